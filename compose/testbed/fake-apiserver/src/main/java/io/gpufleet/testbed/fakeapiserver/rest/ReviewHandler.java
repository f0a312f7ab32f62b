package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.admission.AdmissionAttributes.UserInfo;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.List;
import java.util.Map;

/** Handles TokenReview and SubjectAccessReview, which are answered and not stored. */
final class ReviewHandler {
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

    private final BearerTokens tokens;

    ReviewHandler(BearerTokens tokens) {
        this.tokens = tokens;
    }

    static boolean isReview(String group, List<String> segments) {
        return KINDS.getOrDefault(group, Map.of()).containsKey(segments.getLast());
    }

    ApiResponse handle(String plural, ApiRequest call) {
        if (!call.method().equals("POST")) {
            throw ApiError.methodNotAllowed();
        }
        ObjectNode review = call.bodyObject().deepCopy();
        JsonNode spec = review.path("spec");
        review.set(
                "status",
                switch (plural) {
                    case "tokenreviews" -> token(Json.text(spec, "token"));
                    case "selfsubjectreviews" -> {
                        ObjectNode status = Json.object();
                        status.set("userInfo", call.user().toJson());
                        yield status;
                    }
                    case "selfsubjectaccessreviews" ->
                        access(call.user().groups().contains(BearerTokens.MASTERS));
                    default -> access(hasMasters(spec.path("groups")));
                });
        return ApiResponse.created(review);
    }

    private ObjectNode token(String token) {
        ObjectNode status = Json.object();
        tokens.user(token)
                .map(UserInfo::toJson)
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
                : status.put(
                        "reason", "the fake API server has no RBAC: only members of " + BearerTokens.MASTERS + " may");
    }

    private static boolean hasMasters(JsonNode groups) {
        for (JsonNode group : groups) {
            if (group.asText().equals(BearerTokens.MASTERS)) {
                return true;
            }
        }
        return false;
    }
}
