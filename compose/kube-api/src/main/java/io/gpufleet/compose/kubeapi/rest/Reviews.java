package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.admission.Question.User;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Json;
import java.util.List;
import java.util.Map;

/** Questions that are posted and answered, but never stored: who is this, may they do that. */
final class Reviews {
    /** Plural to kind, by group. */
    static final Map<String, Map<String, String>> KINDS = Map.of(
            "authentication.k8s.io",
            Map.of("tokenreviews", "TokenReview", "selfsubjectreviews", "SelfSubjectReview"),
            "authorization.k8s.io",
            Map.of(
                    "subjectaccessreviews",
                    "SubjectAccessReview",
                    "selfsubjectaccessreviews",
                    "SelfSubjectAccessReview",
                    "localsubjectaccessreviews",
                    "LocalSubjectAccessReview"));

    private final Tokens tokens;

    Reviews(Tokens tokens) {
        this.tokens = tokens;
    }

    static boolean isReview(String group, List<String> segments) {
        return KINDS.getOrDefault(group, Map.of()).containsKey(segments.getLast());
    }

    Answer answer(String plural, Call call) {
        if (!call.method().equals("POST")) {
            throw ApiError.methodNotAllowed();
        }
        ObjectNode review = call.object().deepCopy();
        JsonNode spec = review.path("spec");
        review.set(
                "status",
                switch (plural) {
                    case "tokenreviews" -> token(Json.text(spec, "token"));
                    case "selfsubjectreviews" -> {
                        ObjectNode status = Json.object();
                        status.set("userInfo", call.user().json());
                        yield status;
                    }
                    case "selfsubjectaccessreviews" ->
                        access(call.user().groups().contains(Tokens.MASTERS));
                    default -> access(masters(spec.path("groups")));
                });
        return Answer.created(review);
    }

    private ObjectNode token(String token) {
        ObjectNode status = Json.object();
        tokens.user(token)
                .map(User::json)
                .ifPresentOrElse(user -> status.put("authenticated", true).set("user", user), () -> {
                    status.putObject("user");
                    status.put("error", "[invalid bearer token, the token is not one of those that were configured]");
                });
        return status;
    }

    private static ObjectNode access(boolean allowed) {
        ObjectNode status = Json.object().put("allowed", allowed);
        return allowed
                ? status
                : status.put("reason", "the stand-in API has no RBAC: only members of " + Tokens.MASTERS + " may");
    }

    private static boolean masters(JsonNode groups) {
        for (JsonNode group : groups) {
            if (group.asText().equals(Tokens.MASTERS)) {
                return true;
            }
        }
        return false;
    }
}
