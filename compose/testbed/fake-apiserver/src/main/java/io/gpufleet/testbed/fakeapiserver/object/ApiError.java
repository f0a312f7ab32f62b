package io.gpufleet.testbed.fakeapiserver.object;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** An error with code, reason and message of the real API server; it becomes a {@code Status} object. */
public final class ApiError extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int code;
    private final transient ObjectNode status;

    /** From a complete Status object, for example of a webhook. */
    public ApiError(ObjectNode status) {
        super(status.path("message").asText(), null, false, false);
        this.code = status.path("code").asInt(500);
        this.status = status;
    }

    private ApiError(int code, String reason, String message, ObjectNode details) {
        this(failure(code, reason, message, details));
    }

    private static ObjectNode failure(int code, String reason, String message, ObjectNode details) {
        ObjectNode status =
                JsonNodeFactory.instance.objectNode().put("kind", "Status").put("apiVersion", "v1");
        status.putObject("metadata");
        status.put("status", "Failure").put("message", message).put("reason", reason);
        if (!details.isEmpty()) {
            status.set("details", details);
        }
        return status.put("code", code);
    }

    /** HTTP status. */
    public int code() {
        return code;
    }

    /** The Status object of the response. */
    public ObjectNode status() {
        return status;
    }

    /** 400: the request is malformed. */
    public static ApiError badRequest(String message) {
        return new ApiError(400, "BadRequest", message, JsonNodeFactory.instance.objectNode());
    }

    /** 401: unknown token. */
    public static ApiError unauthorized() {
        return new ApiError(401, "Unauthorized", "Unauthorized", JsonNodeFactory.instance.objectNode());
    }

    /** 403: forbidden for an object. */
    public static ApiError forbidden(GroupResource what, String name, String why) {
        return new ApiError(403, "Forbidden", what + " \"" + name + "\" is forbidden: " + why, details(what, name));
    }

    /** 404: unknown path. */
    public static ApiError noSuchPath() {
        return new ApiError(
                404,
                "NotFound",
                "the server could not find the requested resource",
                JsonNodeFactory.instance.objectNode());
    }

    /** 404: unknown object. */
    public static ApiError notFound(GroupResource what, String name) {
        return new ApiError(404, "NotFound", what + " \"" + name + "\" not found", details(what, name));
    }

    /** 405: the resource does not support the verb. */
    public static ApiError methodNotAllowed() {
        return new ApiError(
                405,
                "MethodNotAllowed",
                "the server does not allow this method on the requested resource",
                JsonNodeFactory.instance.objectNode());
    }

    /** 409: the name exists. */
    public static ApiError alreadyExists(GroupResource what, String name) {
        return new ApiError(409, "AlreadyExists", what + " \"" + name + "\" already exists", details(what, name));
    }

    /** 409: a concurrent write, or a failed precondition. */
    public static ApiError conflict(GroupResource what, String name, String why) {
        return new ApiError(
                409,
                "Conflict",
                "Operation cannot be fulfilled on " + what + " \"" + name + "\": " + why,
                details(what, name));
    }

    /** 409: the resourceVersion is older than the stored one. */
    public static ApiError staleResourceVersion(GroupResource what, String name) {
        return conflict(
                what,
                name,
                "the object has been modified; please apply your changes to the latest version and try again");
    }

    /** 409 of server-side apply: other managers own applied fields. */
    public static ApiError applyConflict(String message, List<StatusCause> causes) {
        ObjectNode details = JsonNodeFactory.instance.objectNode();
        details.set("causes", causes(causes, false));
        return new ApiError(409, "Conflict", message, details);
    }

    /** 410: the resource version is no longer in the history. */
    public static ApiError expired(String message) {
        return new ApiError(410, "Expired", message, JsonNodeFactory.instance.objectNode());
    }

    /** 415: a media type that is not supported, or not for this resource. */
    public static ApiError unsupportedMedia(String accepted) {
        return new ApiError(
                415,
                "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: " + accepted,
                JsonNodeFactory.instance.objectNode());
    }

    /** 422: invalid fields. */
    public static ApiError invalid(GroupResource what, String kind, String name, List<StatusCause> causes) {
        List<String> texts = causes.stream()
                .map(cause -> cause.field() + ": " + cause.message())
                .toList();
        String all = texts.size() == 1 ? texts.getFirst() : "[" + String.join(", ", texts) + "]";
        ObjectNode details = details(what, name).put("kind", kind);
        details.set("causes", causes(causes, true));
        String qualified = what.group().isEmpty() ? kind : kind + "." + what.group();
        return new ApiError(422, "Invalid", qualified + " \"" + name + "\" is invalid: " + all, details);
    }

    /** 422: a patch that cannot be applied. */
    public static ApiError unprocessable(String message) {
        return new ApiError(422, "Invalid", message, JsonNodeFactory.instance.objectNode());
    }

    /** 429: a disruption budget forbids it now. */
    public static ApiError disruptionBudget(String budget, int needed, int healthy) {
        ObjectNode details = JsonNodeFactory.instance.objectNode();
        details.set(
                "causes",
                causes(
                        List.of(new StatusCause(
                                "",
                                "DisruptionBudget",
                                "The disruption budget " + budget + " needs " + needed + " healthy pods and has "
                                        + healthy + " currently")),
                        false));
        return new ApiError(
                429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", details);
    }

    /** 500, with the prefix of the real server. */
    public static ApiError internal(String what) {
        ObjectNode details = JsonNodeFactory.instance.objectNode();
        details.set("causes", causes(List.of(new StatusCause("", "", what)), false));
        return new ApiError(500, "InternalError", "Internal error occurred: " + what, details);
    }

    private static ObjectNode details(GroupResource what, String name) {
        ObjectNode details = JsonNodeFactory.instance.objectNode();
        if (!name.isEmpty()) {
            details.put("name", name);
        }
        if (!what.group().isEmpty()) {
            details.put("group", what.group());
        }
        return details.put("kind", what.plural());
    }

    private static ArrayNode causes(List<StatusCause> causes, boolean withField) {
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        for (StatusCause cause : causes) {
            ObjectNode entry = list.addObject();
            if (!cause.reason().isEmpty()) {
                entry.put("reason", cause.reason());
            }
            entry.put("message", cause.message());
            if (withField || !cause.field().isEmpty()) {
                entry.put("field", cause.field());
            }
        }
        return list;
    }
}
