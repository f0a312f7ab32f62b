package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.time.Duration;
import java.util.function.Supplier;

/** Maps exceptions of the client to responses and to one line of text. */
final class ApiErrors {
    private static final int MAX_LENGTH = 300;

    private ApiErrors() {}

    /** The response; {@code retryAfter} is asked for one that is to be repeated later. */
    static NodeResponse toResponse(KubernetesClientException failed, Supplier<Duration> retryAfter) {
        return switch (failed.getCode()) {
            case 404 -> new NodeResponse.NotFound();
            case 409 -> new NodeResponse.Conflict();
            case 422 -> new NodeResponse.Mismatch(oneLine(failed));
            case 400, 401, 403, 405, 406, 413, 415 -> new NodeResponse.Rejected(oneLine(failed));
            default -> new NodeResponse.Unavailable(oneLine(failed), retryAfter.get());
        };
    }

    /** The API server's message when it sent one, else that of the innermost cause. */
    static String oneLine(Throwable failed) {
        Throwable cause = failed;
        while (cause.getCause() != null && !hasMessage(cause)) {
            cause = cause.getCause();
        }
        String text = message(cause);
        if (text.isEmpty()) {
            text = cause.getMessage() == null
                    ? cause.getClass().getSimpleName()
                    : cause.getClass().getSimpleName() + ": " + cause.getMessage();
        }
        String line = text.replaceAll("\\s+", " ").strip();
        return line.length() <= MAX_LENGTH ? line : line.substring(0, MAX_LENGTH);
    }

    private static boolean hasMessage(Throwable failed) {
        return !message(failed).isEmpty();
    }

    private static String message(Throwable failed) {
        if (failed instanceof KubernetesClientException api && api.getCode() > 0) {
            return ApiErrorMessage.answer(api);
        }
        return "";
    }
}
