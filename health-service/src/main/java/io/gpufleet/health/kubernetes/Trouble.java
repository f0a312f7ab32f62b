package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.health.app.NodeMarks.Answer;

/** What an exception of the client means. */
final class Trouble {
    private static final int MOST = 300;

    private Trouble() {}

    static Answer answer(KubernetesClientException failed) {
        return switch (failed.getCode()) {
            case 404 -> new Answer.Gone();
            case 409 -> new Answer.Changed();
            case 400, 401, 403, 405, 406, 413, 415, 422 -> new Answer.Refused(oneLine(failed));
            default -> new Answer.Away(oneLine(failed));
        };
    }

    /** The API server's own words where it has some, else the innermost reason. */
    static String oneLine(Throwable failed) {
        Throwable cause = failed;
        while (cause.getCause() != null && !hasWords(cause)) {
            cause = cause.getCause();
        }
        String text = words(cause);
        if (text.isEmpty()) {
            text = cause.getMessage() == null
                    ? cause.getClass().getSimpleName()
                    : cause.getClass().getSimpleName() + ": " + cause.getMessage();
        }
        String line = text.replaceAll("\\s+", " ").strip();
        return line.length() <= MOST ? line : line.substring(0, MOST);
    }

    private static boolean hasWords(Throwable failed) {
        return !words(failed).isEmpty();
    }

    private static String words(Throwable failed) {
        if (failed instanceof KubernetesClientException api && api.getCode() > 0) {
            Status status = api.getStatus();
            String said = status == null || status.getMessage() == null ? "" : status.getMessage();
            return api.getCode() + (said.isEmpty() ? "" : " " + said);
        }
        return "";
    }
}
