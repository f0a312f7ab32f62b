package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClientException;

/** What went wrong with a request, for people: the client's own words name the kind and hide the cause. */
final class Failure {
    private Failure() {}

    /** The server's words, or those of the innermost cause. */
    static String line(KubernetesClientException failed) {
        if (failed.getStatus() != null && failed.getStatus().getMessage() != null) {
            return failed.getCode() + " " + failed.getStatus().getMessage();
        }
        Throwable cause = failed;
        for (Throwable inner = failed.getCause(); inner != null; inner = inner.getCause()) {
            cause = inner;
        }
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
