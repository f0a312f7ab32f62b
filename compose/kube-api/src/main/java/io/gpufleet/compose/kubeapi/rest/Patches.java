package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.apply.FieldManagement;
import io.gpufleet.compose.kubeapi.apply.Writer;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.patch.JsonPatch;
import io.gpufleet.compose.kubeapi.patch.MergePatch;
import io.gpufleet.compose.kubeapi.patch.StrategicMerge;
import java.util.List;

/** PATCH in its four kinds. */
final class Patches {
    private static final String APPLY = "application/apply-patch+yaml";
    private static final String ACCEPTED = "application/json-patch+json, application/merge-patch+json, " + APPLY;

    private final Cluster cluster;
    private final Writes writes;

    Patches(Cluster cluster, Writes writes) {
        this.cluster = cluster;
        this.writes = writes;
    }

    Answer patch(Target target, Call call) {
        if (call.contentType().equals(APPLY)) {
            return apply(target, call);
        }
        Writer writer = Writer.updating(call.manager(), target.subresource(), target.type());
        JsonNode patch = Json.parse(call.body());
        Writes.Change change = switch (call.contentType()) {
            case "application/json-patch+json" -> live -> object(JsonPatch.apply(live, patch));
            case "application/merge-patch+json" -> live -> object(MergePatch.apply(live, patch));
            case "application/strategic-merge-patch+json" -> {
                if (target.type().custom()) {
                    throw ApiError.unsupportedMedia(ACCEPTED);
                }
                yield live -> object(StrategicMerge.apply(live, patch));
            }
            default -> throw ApiError.unsupportedMedia(ACCEPTED + ", application/strategic-merge-patch+json");
        };
        return Answer.ok(writes.change(target, call, writer, change));
    }

    private static ObjectNode object(JsonNode patched) {
        if (patched instanceof ObjectNode object) {
            return object;
        }
        throw ApiError.unprocessable("the patch leaves no object");
    }

    private Answer apply(Target target, Call call) {
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
        Json.dig(applied, "metadata").put("name", target.name());
        limitTo(target, applied);
        Writer writer = Writer.applying(call.manager(), target.subresource(), target.type());
        if (cluster.store().get(target.resource(), target.key()).isEmpty() && !target.isStatus()) {
            return Answer.created(create(target, applied, call, writer));
        }
        ObjectNode claim = identityOf(applied);
        return Answer.ok(writes.change(target, call, writer, live -> {
            ObjectNode next = FieldManagement.applied(
                    target.type(), live, withoutIdentity(applied), writer, call.flag("force"), cluster.now());
            claim.properties().forEach(field -> Json.dig(next, "metadata").set(field.getKey(), field.getValue()));
            return next;
        }));
    }

    private ObjectNode create(Target target, ObjectNode applied, Call call, Writer writer) {
        String uid = Json.text(applied, "metadata", "uid");
        if (!uid.isEmpty()) {
            throw ApiError.conflict(
                    target.resource(),
                    target.name(),
                    "uid mismatch: the provided object specified uid " + uid + ", and no existing object was found");
        }
        Json.dig(applied, "metadata").remove("resourceVersion");
        return writes.create(target, applied, call, writer);
    }

    /** What can not be written through this path is not claimed either. */
    private static void limitTo(Target target, ObjectNode applied) {
        if (target.isStatus()) {
            ObjectNode metadata = Json.dig(applied, "metadata");
            if (target.type().custom()) {
                metadata.retain("name", "namespace", "uid", "resourceVersion");
            }
            applied.retain("apiVersion", "kind", "metadata", "status");
        } else if (target.type().status()) {
            applied.remove("status");
        }
    }

    /** The preconditions that an apply may carry. */
    private static ObjectNode identityOf(ObjectNode applied) {
        return Json.dig(applied, "metadata").deepCopy().retain("uid", "resourceVersion", "name", "namespace");
    }

    private static ObjectNode withoutIdentity(ObjectNode applied) {
        ObjectNode copy = applied.deepCopy();
        Json.dig(copy, "metadata").remove(List.of("uid", "resourceVersion"));
        return copy;
    }
}
