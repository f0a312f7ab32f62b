package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.admission.Question;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.GroupResource;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.store.Key;
import io.gpufleet.compose.kubeapi.type.ResourceType;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** Deleting: at once, after a pod's grace, or when the last finalizer is gone. Dependents of an owner stay. */
final class Removal {
    private static final GroupResource NAMESPACES = new GroupResource("", "namespaces");

    private final Cluster cluster;

    Removal(Cluster cluster) {
        this.cluster = cluster;
    }

    /** Whether nothing holds an object any more that somebody has deleted. */
    static boolean due(Target target, JsonNode object) {
        JsonNode metadata = object.path("metadata");
        boolean waits = target.type().isCore("pods")
                && metadata.path("deletionGracePeriodSeconds").asInt(0) > 0;
        boolean inhabited = target.type().isCore("namespaces")
                && !object.path("spec").path("finalizers").isEmpty();
        return metadata.has("deletionTimestamp") && metadata.path("finalizers").isEmpty() && !waits && !inhabited;
    }

    /** Deletes one object as options ask; the answer is the object while it is still there, or a Status. */
    Answer delete(Target target, Call call, JsonNode options) {
        if (target.type().isCore("namespaces")
                && (target.name().equals("default") || target.name().equals("kube-system"))) {
            throw ApiError.forbidden(NAMESPACES, target.name(), "this namespace may not be deleted");
        }
        while (true) {
            ObjectNode live = cluster.store()
                    .get(target.resource(), target.key())
                    .orElseThrow(() -> ApiError.notFound(target.resource(), target.name()));
            preconditions(target, live, options.path("preconditions"));
            cluster.webhooks()
                    .validate(
                            new Question(
                                    target.type(),
                                    "DELETE",
                                    "",
                                    MissingNode.getInstance(),
                                    live,
                                    call.user(),
                                    call.dryRun()),
                            call.warnings());
            ObjectNode marked = marked(target, live, options);
            if (call.dryRun()) {
                return Answer.ok(marked);
            }
            if (due(target, marked)) {
                if (cluster.store().remove(target.resource(), live, marked)) {
                    after(target, marked);
                    return Answer.ok(target.type().isCore("pods") ? marked : gone(target, live));
                }
            } else if (marked.equals(live)) {
                return Answer.ok(live);
            } else {
                Optional<ObjectNode> stored = cluster.store().replace(target.resource(), live, marked);
                if (stored.isPresent()) {
                    if (target.type().isCore("namespaces")) {
                        empty(target.name(), call);
                    }
                    return Answer.ok(stored.get());
                }
            }
        }
    }

    private ObjectNode marked(Target target, ObjectNode live, JsonNode options) {
        ObjectNode marked = live.deepCopy();
        ObjectNode metadata = Json.dig(marked, "metadata");
        int grace = target.type().isCore("pods") ? grace(live, options) : 0;
        boolean first = !metadata.has("deletionTimestamp");
        boolean shorter = grace < metadata.path("deletionGracePeriodSeconds").asInt(Integer.MAX_VALUE);
        if (first || target.type().isCore("pods") && shorter) {
            Instant end = cluster.clock().instant().plusSeconds(grace).truncatedTo(ChronoUnit.SECONDS);
            metadata.put("deletionTimestamp", end.toString()).put("deletionGracePeriodSeconds", grace);
        }
        if (target.type().isCore("namespaces")) {
            Json.dig(marked, "status").put("phase", "Terminating");
            if (cluster.store().inhabited(target.name()).isEmpty()) {
                Json.dig(marked, "spec").remove("finalizers");
            }
        }
        return marked;
    }

    /** A pod that no kubelet knows, or that has ended, needs no grace. */
    private static int grace(JsonNode pod, JsonNode options) {
        String phase = Json.text(pod, "status", "phase");
        if (Json.text(pod, "spec", "nodeName").isEmpty() || phase.equals("Succeeded") || phase.equals("Failed")) {
            return 0;
        }
        int own = pod.path("spec").path("terminationGracePeriodSeconds").asInt(30);
        return options.path("gracePeriodSeconds").asInt(own);
    }

    private static void preconditions(Target target, JsonNode live, JsonNode wanted) {
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

    /** What follows from a removal: a definition's resource ends, a terminating namespace may be empty now. */
    ObjectNode after(Target target, ObjectNode last) {
        if (target.resource().plural().equals("customresourcedefinitions")) {
            cluster.types().all().stream()
                    .filter(type -> type.resource().toString().equals(target.name()))
                    .forEach(type -> cluster.store()
                            .list(type.resource(), "")
                            .objects()
                            .forEach(object -> cluster.store().remove(type.resource(), object, object)));
            cluster.types().forget(target.name());
        }
        cluster.store()
                .get(NAMESPACES, new Key("", target.namespace()))
                .filter(namespace -> namespace.path("metadata").has("deletionTimestamp"))
                .filter(namespace ->
                        cluster.store().inhabited(target.namespace()).isEmpty())
                .ifPresent(namespace -> cluster.store().remove(NAMESPACES, namespace, namespace));
        return last;
    }

    private void empty(String namespace, Call call) {
        for (GroupResource resource : cluster.store().inhabited(namespace)) {
            Optional<ResourceType> type = cluster.types().all().stream()
                    .filter(candidate -> candidate.resource().equals(resource))
                    .findFirst();
            type.ifPresent(found -> cluster.store()
                    .list(resource, namespace)
                    .objects()
                    .forEach(object -> {
                        Target inside = new Target(found, namespace, Json.name(object), "");
                        cluster.store()
                                .get(resource, inside.key())
                                .ifPresent(there -> delete(inside, call, Json.object()));
                    }));
        }
    }

    private static ObjectNode gone(Target target, JsonNode live) {
        ObjectNode status = Answer.success();
        status.putObject("details")
                .put("name", target.name())
                .put("group", target.resource().group())
                .put("kind", target.resource().plural())
                .put("uid", Json.text(live, "metadata", "uid"));
        return status;
    }
}
