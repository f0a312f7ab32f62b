package io.gpufleet.runtime.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClientException;

/** Message of a failed request: the message of the client names the kind and hides the cause. */
public final class ApiErrorMessage {
    private ApiErrorMessage() {}

    /** The message of the server, or the first line of that of the innermost cause. */
    public static String of(KubernetesClientException failed) {
        if (failed.getStatus() != null && failed.getStatus().getMessage() != null) {
            return failed.getCode() + " " + failed.getStatus().getMessage();
        }
        Throwable cause = failed;
        for (Throwable inner = failed.getCause(); inner != null; inner = inner.getCause()) {
            cause = inner;
        }
        String message = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return message.lines().findFirst().orElse(message);
    }
}
