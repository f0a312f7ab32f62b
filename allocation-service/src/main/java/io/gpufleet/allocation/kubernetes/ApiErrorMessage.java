package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClientException;

/** Message of a failed request: the message of the client names the kind and hides the cause. */
final class ApiErrorMessage {
    private ApiErrorMessage() {}

    /** The message of the server, or that of the innermost cause. */
    static String of(KubernetesClientException failed) {
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
