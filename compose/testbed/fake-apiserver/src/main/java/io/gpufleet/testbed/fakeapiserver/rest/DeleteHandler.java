package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.admission.AdmissionAttributes;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.store.ObjectKey;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * Deletes objects: at once, after the grace period of a pod, or with the last finalizer. Dependents of an owner stay.
 */
final class DeleteHandler {
    private static final GroupResource NAMESPACES = new GroupResource("", "namespaces");

    private final ServerContext context;

    DeleteHandler(ServerContext cluster) {
        this.context = cluster;
    }

    /** True when a deleted object has no finalizer and no grace period left. */
    static boolean isDeletable(RequestInfo target, JsonNode object) {
        JsonNode metadata = object.path("metadata");
        boolean waits = target.type().isCore("pods")
                && metadata.path("deletionGracePeriodSeconds").asInt(0) > 0;
        boolean inhabited = target.type().isCore("namespaces")
                && !object.path("spec").path("finalizers").isEmpty();
        return metadata.has("deletionTimestamp") && metadata.path("finalizers").isEmpty() && !waits && !inhabited;
    }

    /** Deletes an object; the response is the object while it still exists, or a Status. */
    ApiResponse delete(RequestInfo target, ApiRequest call, JsonNode options) {
        if (target.type().isCore("namespaces")
                && (target.name().equals("default") || target.name().equals("kube-system"))) {
            throw ApiError.forbidden(NAMESPACES, target.name(), "this namespace may not be deleted");
        }
        while (true) {
            ObjectNode live = context.store()
                    .get(target.resource(), target.key())
                    .orElseThrow(() -> ApiError.notFound(target.resource(), target.name()));
            preconditions(target, live, options.path("preconditions"));
            context.webhooks()
                    .validate(
                            new AdmissionAttributes(
                                    target.type(),
                                    "DELETE",
                                    "",
                                    MissingNode.getInstance(),
                                    live,
                                    call.user(),
                                    call.dryRun()),
                            call.warnings());
            ObjectNode marked = withDeletionTimestamp(target, live, options);
            if (call.dryRun()) {
                return ApiResponse.ok(marked);
            }
            if (isDeletable(target, marked)) {
                if (context.store().remove(target.resource(), live, marked)) {
                    afterDelete(target, marked);
                    return ApiResponse.ok(target.type().isCore("pods") ? marked : deletedStatus(target, live));
                }
            } else if (marked.equals(live)) {
                return ApiResponse.ok(live);
            } else {
                Optional<ObjectNode> stored = context.store().replace(target.resource(), live, marked);
                if (stored.isPresent()) {
                    if (target.type().isCore("namespaces")) {
                        deleteContents(target.name(), call);
                    }
                    return ApiResponse.ok(stored.get());
                }
            }
        }
    }

    private ObjectNode withDeletionTimestamp(RequestInfo target, ObjectNode live, JsonNode options) {
        ObjectNode marked = live.deepCopy();
        ObjectNode metadata = Json.withObject(marked, "metadata");
        int grace = target.type().isCore("pods") ? gracePeriodSeconds(live, options) : 0;
        boolean first = !metadata.has("deletionTimestamp");
        boolean shorter = grace < metadata.path("deletionGracePeriodSeconds").asInt(Integer.MAX_VALUE);
        if (first || target.type().isCore("pods") && shorter) {
            Instant end = context.clock().instant().plusSeconds(grace).truncatedTo(ChronoUnit.SECONDS);
            metadata.put("deletionTimestamp", end.toString()).put("deletionGracePeriodSeconds", grace);
        }
        if (target.type().isCore("namespaces")) {
            Json.withObject(marked, "status").put("phase", "Terminating");
            if (context.store().resourcesIn(target.name()).isEmpty()) {
                Json.withObject(marked, "spec").remove("finalizers");
            }
        }
        return marked;
    }

    /** A pod without a node, or one that ended, needs no grace period. */
    private static int gracePeriodSeconds(JsonNode pod, JsonNode options) {
        String phase = Json.text(pod, "status", "phase");
        if (Json.text(pod, "spec", "nodeName").isEmpty() || phase.equals("Succeeded") || phase.equals("Failed")) {
            return 0;
        }
        int own = pod.path("spec").path("terminationGracePeriodSeconds").asInt(30);
        return options.path("gracePeriodSeconds").asInt(own);
    }

    private static void preconditions(RequestInfo target, JsonNode live, JsonNode wanted) {
        String uid = Json.text(live, "metadata", "uid");
        String version = Json.text(live, "metadata", "resourceVersion");
        if (!wanted.path("uid").asText(uid).equals(uid)) {
            throw ApiError.conflict(
                    target.resource(),
                    target.name(),
                    "Precondition failed: UID in precondition: " + Json.text(wanted, "uid") + ", UID in object meta: "
                            + uid);
        }
        if (!wanted.path("resourceVersion").asText(version).equals(version)) {
            throw ApiError.conflict(
                    target.resource(),
                    target.name(),
                    "Precondition failed: ResourceVersion in precondition: " + Json.text(wanted, "resourceVersion")
                            + ", ResourceVersion in object meta: " + version);
        }
    }

    /**
     * Follow-up of a deletion: the resource of a definition is no longer served, a terminating namespace may be empty.
     */
    ObjectNode afterDelete(RequestInfo target, ObjectNode last) {
        if (target.resource().plural().equals("customresourcedefinitions")) {
            context.types().all().stream()
                    .filter(type -> type.resource().toString().equals(target.name()))
                    .forEach(type -> context.store()
                            .list(type.resource(), "")
                            .objects()
                            .forEach(object -> context.store().remove(type.resource(), object, object)));
            context.types().unregister(target.name());
        }
        context.store()
                .get(NAMESPACES, new ObjectKey("", target.namespace()))
                .filter(namespace -> namespace.path("metadata").has("deletionTimestamp"))
                .filter(namespace ->
                        context.store().resourcesIn(target.namespace()).isEmpty())
                .ifPresent(namespace -> context.store().remove(NAMESPACES, namespace, namespace));
        return last;
    }

    private void deleteContents(String namespace, ApiRequest call) {
        for (GroupResource resource : context.store().resourcesIn(namespace)) {
            Optional<ResourceType> type = context.types().all().stream()
                    .filter(candidate -> candidate.resource().equals(resource))
                    .findFirst();
            type.ifPresent(found -> context.store()
                    .list(resource, namespace)
                    .objects()
                    .forEach(object -> {
                        RequestInfo inside = new RequestInfo(found, namespace, Json.name(object), "");
                        context.store()
                                .get(resource, inside.key())
                                .ifPresent(there -> delete(inside, call, Json.object()));
                    }));
        }
    }

    private static ObjectNode deletedStatus(RequestInfo target, JsonNode live) {
        ObjectNode status = ApiResponse.success();
        status.putObject("details")
                .put("name", target.name())
                .put("group", target.resource().group())
                .put("kind", target.resource().plural())
                .put("uid", Json.text(live, "metadata", "uid"));
        return status;
    }
}
