package io.gpufleet.compose.kubeapi.object;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** A refusal with the code, reason and text of the real API server; it becomes a {@code Status} object. */
public final class ApiError extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int code;
    private final transient ObjectNode status;

    /** From a complete Status object, as a webhook may hand one over. */
    public ApiError(ObjectNode status) {
        super(Json.text(status, "message"), null, false, false);
        this.code = status.path("code").asInt(500);
        this.status = status;
    }

    private ApiError(int code, String reason, String message, ObjectNode details) {
        this(failure(code, reason, message, details));
    }

    private static ObjectNode failure(int code, String reason, String message, ObjectNode details) {
        ObjectNode status = Json.object().put("kind", "Status").put("apiVersion", "v1");
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

    /** The Status object to answer. */
    public ObjectNode status() {
        return status;
    }

    /** 400: the request itself is wrong. */
    public static ApiError badRequest(String message) {
        return new ApiError(400, "BadRequest", message, Json.object());
    }

    /** 401: a token that is not known. */
    public static ApiError unauthorized() {
        return new ApiError(401, "Unauthorized", "Unauthorized", Json.object());
    }

    /** 403 on an object. */
    public static ApiError forbidden(GroupResource what, String name, String why) {
        return new ApiError(403, "Forbidden", what + " \"" + name + "\" is forbidden: " + why, details(what, name));
    }

    /** 404: no such path. */
    public static ApiError noSuchPath() {
        return new ApiError(404, "NotFound", "the server could not find the requested resource", Json.object());
    }

    /** 404: no such object. */
    public static ApiError notFound(GroupResource what, String name) {
        return new ApiError(404, "NotFound", what + " \"" + name + "\" not found", details(what, name));
    }

    /** 405: a verb that the resource does not have. */
    public static ApiError methodNotAllowed() {
        return new ApiError(
                405,
                "MethodNotAllowed",
                "the server does not allow this method on the requested resource",
                Json.object());
    }

    /** 409: the name is taken. */
    public static ApiError alreadyExists(GroupResource what, String name) {
        return new ApiError(409, "AlreadyExists", what + " \"" + name + "\" already exists", details(what, name));
    }

    /** 409: somebody else was faster, or a precondition does not hold. */
    public static ApiError conflict(GroupResource what, String name, String why) {
        return new ApiError(
                409,
                "Conflict",
                "Operation cannot be fulfilled on " + what + " \"" + name + "\": " + why,
                details(what, name));
    }

    /** 409: the object that was sent is older than the stored one. */
    public static ApiError stale(GroupResource what, String name) {
        return conflict(
                what,
                name,
                "the object has been modified; please apply your changes to the latest version and try again");
    }

    /** 409 of server-side apply: others own what was applied. */
    public static ApiError applyConflict(String message, List<Cause> causes) {
        ObjectNode details = Json.object();
        details.set("causes", causes(causes, false));
        return new ApiError(409, "Conflict", message, details);
    }

    /** 410: the history no longer reaches back that far. */
    public static ApiError expired(String message) {
        return new ApiError(410, "Expired", message, Json.object());
    }

    /** 415: a body format that is not understood, or not for this resource. */
    public static ApiError unsupportedMedia(String accepted) {
        return new ApiError(
                415,
                "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: " + accepted,
                Json.object());
    }

    /** 422: fields that do not pass validation. */
    public static ApiError invalid(GroupResource what, String kind, String name, List<Cause> causes) {
        List<String> texts = causes.stream()
                .map(cause -> cause.field() + ": " + cause.message())
                .toList();
        String all = texts.size() == 1 ? texts.getFirst() : "[" + String.join(", ", texts) + "]";
        ObjectNode details = details(what, name).put("kind", kind);
        details.set("causes", causes(causes, true));
        String qualified = what.group().isEmpty() ? kind : kind + "." + what.group();
        return new ApiError(422, "Invalid", qualified + " \"" + name + "\" is invalid: " + all, details);
    }

    /** 422 for a patch that can not be carried out. */
    public static ApiError unprocessable(String message) {
        return new ApiError(422, "Invalid", message, Json.object());
    }

    /** 429: not now, a disruption budget forbids it. */
    public static ApiError disruptionBudget(String budget, int needed, int healthy) {
        ObjectNode details = Json.object();
        details.set(
                "causes",
                causes(
                        List.of(new Cause(
                                "",
                                "DisruptionBudget",
                                "The disruption budget " + budget + " needs " + needed + " healthy pods and has "
                                        + healthy + " currently")),
                        false));
        return new ApiError(
                429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", details);
    }

    /** 500 with the real server's opening words. */
    public static ApiError internal(String what) {
        ObjectNode details = Json.object();
        details.set("causes", causes(List.of(new Cause("", "", what)), false));
        return new ApiError(500, "InternalError", "Internal error occurred: " + what, details);
    }

    /** 501: the stand-in does not do this and says so. */
    public static ApiError standInLacks(String what) {
        return new ApiError(501, "NotImplemented", "the stand-in API does not do this: " + what, Json.object());
    }

    private static ObjectNode details(GroupResource what, String name) {
        ObjectNode details = Json.object();
        if (!name.isEmpty()) {
            details.put("name", name);
        }
        if (!what.group().isEmpty()) {
            details.put("group", what.group());
        }
        return details.put("kind", what.plural());
    }

    private static ArrayNode causes(List<Cause> causes, boolean withField) {
        ArrayNode list = Json.array();
        for (Cause cause : causes) {
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
