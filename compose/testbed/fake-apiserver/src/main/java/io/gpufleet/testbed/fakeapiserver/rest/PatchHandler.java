package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.apply.FieldManagement;
import io.gpufleet.testbed.fakeapiserver.apply.FieldOwner;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.patch.JsonPatch;
import io.gpufleet.testbed.fakeapiserver.patch.MergePatch;
import io.gpufleet.testbed.fakeapiserver.patch.StrategicMergePatch;
import java.util.List;

/** Handles PATCH in its four formats. */
final class PatchHandler {
    private static final String APPLY = "application/apply-patch+yaml";
    private static final String ACCEPTED = "application/json-patch+json, application/merge-patch+json, " + APPLY;

    private final ServerContext context;
    private final WriteHandler writeHandler;

    PatchHandler(ServerContext cluster, WriteHandler writes) {
        this.context = cluster;
        this.writeHandler = writes;
    }

    ApiResponse patch(RequestInfo target, ApiRequest call) {
        if (call.contentType().equals(APPLY)) {
            return apply(target, call);
        }
        FieldOwner writer = FieldOwner.forUpdate(call.fieldManager(), target.subresource(), target.type());
        JsonNode patch = Json.parse(call.body());
        WriteHandler.UpdateFunction change = switch (call.contentType()) {
            case "application/json-patch+json" -> live -> object(JsonPatch.apply(live, patch));
            case "application/merge-patch+json" -> live -> object(MergePatch.apply(live, patch));
            case "application/strategic-merge-patch+json" -> {
                if (target.type().custom()) {
                    throw ApiError.unsupportedMedia(ACCEPTED);
                }
                yield live -> object(StrategicMergePatch.apply(live, patch));
            }
            default -> throw ApiError.unsupportedMedia(ACCEPTED + ", application/strategic-merge-patch+json");
        };
        return ApiResponse.ok(writeHandler.guaranteedUpdate(target, call, writer, change));
    }

    private static ObjectNode object(JsonNode patched) {
        if (patched instanceof ObjectNode object) {
            return object;
        }
        throw ApiError.unprocessable("the patch leaves no object");
    }

    private ApiResponse apply(RequestInfo target, ApiRequest call) {
        if (call.parameter("fieldManager").isEmpty()) {
            throw ApiError.unprocessable("PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is"
                    + " required for apply patch");
        }
        ObjectNode applied = Json.object(call.body()).deepCopy();
        if (!Json.at(applied, "metadata", "managedFields").isMissingNode()) {
            throw ApiError.badRequest("metadata.managedFields must be nil");
        }
        if (Json.text(applied, "apiVersion").isEmpty()
                || Json.text(applied, "kind").isEmpty()) {
            throw ApiError.badRequest("Object 'Kind' and 'apiVersion' are required in an apply patch");
        }
        Json.withObject(applied, "metadata").put("name", target.name());
        retainWritable(target, applied);
        FieldOwner writer = FieldOwner.forApply(call.fieldManager(), target.subresource(), target.type());
        if (context.store().get(target.resource(), target.key()).isEmpty() && !target.isStatus()) {
            return ApiResponse.created(create(target, applied, call, writer));
        }
        ObjectNode claim = identityOf(applied);
        return ApiResponse.ok(writeHandler.guaranteedUpdate(target, call, writer, live -> {
            ObjectNode next = FieldManagement.applied(
                    target.type(),
                    live,
                    withoutIdentity(applied),
                    writer,
                    call.booleanParameter("force"),
                    context.now());
            claim.properties()
                    .forEach(field -> Json.withObject(next, "metadata").set(field.getKey(), field.getValue()));
            return next;
        }));
    }

    private ObjectNode create(RequestInfo target, ObjectNode applied, ApiRequest call, FieldOwner writer) {
        String uid = Json.text(applied, "metadata", "uid");
        if (!uid.isEmpty()) {
            throw ApiError.conflict(
                    target.resource(),
                    target.name(),
                    "uid mismatch: the provided object specified uid " + uid + ", and no existing object was found");
        }
        Json.withObject(applied, "metadata").remove("resourceVersion");
        return writeHandler.create(target, applied, call, writer);
    }

    /** Fields that this path does not write are not owned either. */
    private static void retainWritable(RequestInfo target, ObjectNode applied) {
        if (target.isStatus()) {
            ObjectNode metadata = Json.withObject(applied, "metadata");
            if (target.type().custom()) {
                metadata.retain("name", "namespace", "uid", "resourceVersion");
            }
            applied.retain("apiVersion", "kind", "metadata", "status");
        } else if (target.type().status()) {
            applied.remove("status");
        }
    }

    /** The preconditions of an apply. */
    private static ObjectNode identityOf(ObjectNode applied) {
        return Json.withObject(applied, "metadata").deepCopy().retain("uid", "resourceVersion", "name", "namespace");
    }

    private static ObjectNode withoutIdentity(ObjectNode applied) {
        ObjectNode copy = applied.deepCopy();
        Json.withObject(copy, "metadata").remove(List.of("uid", "resourceVersion"));
        return copy;
    }
}
