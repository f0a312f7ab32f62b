package io.gpufleet.runtime.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Message of a failed request: the message of the client names the kind and hides the cause. */
public final class ApiErrorMessage {
    private static final int FORBIDDEN = 403;
    /** In the text of RBAC, and not in those of admission: User "..." cannot list resource "nodes" in API group "". */
    private static final String MISSING_RIGHT = "\" cannot ";
    /** Of a refused watch the client keeps no more than the status line; the resource is in the URL. */
    private static final Pattern WATCHED = Pattern.compile("/([a-z0-9]+)\\?\\S*\\bwatch=true");

    private static final String REMEDY = "; the manifests of this release grant that: apply them again";

    private ApiErrorMessage() {}

    /** The answer of the server, or the first line of the message of the innermost cause. */
    public static String of(Throwable failed) {
        Throwable cause = failed;
        for (Throwable inner = failed; inner != null; inner = inner.getCause()) {
            if (inner instanceof KubernetesClientException api && hasMessage(api)) {
                return answer(api);
            }
            cause = inner;
        }
        String message = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return message.lines().findFirst().orElse(message);
    }

    private static boolean hasMessage(KubernetesClientException failed) {
        return failed.getStatus() != null && failed.getStatus().getMessage() != null;
    }

    /** Code and message of the server; of a right that is missing also what to do. */
    public static String answer(KubernetesClientException failed) {
        String message = hasMessage(failed) ? failed.getStatus().getMessage() : "";
        String answer = message.isEmpty() ? "" + failed.getCode() : failed.getCode() + " " + message;
        if (failed.getCode() != FORBIDDEN) {
            return answer;
        }
        if (message.contains(MISSING_RIGHT)) {
            return answer + REMEDY;
        }
        Matcher watched = WATCHED.matcher(String.valueOf(failed.getMessage()));
        return watched.find() ? answer + ": cannot watch resource \"" + watched.group(1) + "\"" + REMEDY : answer;
    }
}
