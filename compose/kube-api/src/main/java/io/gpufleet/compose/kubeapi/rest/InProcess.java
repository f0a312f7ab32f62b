package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.admission.Question.User;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.GroupResource;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.schedule.Scheduler;
import io.gpufleet.compose.kubeapi.store.Key;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes of the control plane itself; they take the same way as everybody's. */
public final class InProcess implements Scheduler.Hands {
    private static final GroupResource EVENTS = new GroupResource("", "events");

    private final Cluster cluster;
    private final Routes routes;

    /** Writes into a cluster through its routes. */
    public InProcess(Cluster cluster, Routes routes) {
        this.cluster = cluster;
        this.routes = routes;
    }

    /** Creates a namespace. */
    public void createNamespace(String name) {
        ObjectNode namespace = Json.object();
        namespace.putObject("metadata").put("name", name);
        send("POST", "/api/v1/namespaces", "application/json", namespace);
    }

    @Override
    public void bind(ObjectNode pod, String node) {
        ObjectNode binding = Json.object();
        binding.putObject("target").put("kind", "Node").put("name", node);
        attempt(() -> {
            send("POST", path(pod) + "/binding", "application/json", binding);
            String where = Json.namespace(pod) + "/" + Json.name(pod);
            event(pod, "Normal", "Scheduled", "Successfully assigned " + where + " to " + node);
        });
    }

    @Override
    public void unschedulable(ObjectNode pod, String message) {
        Optional<ObjectNode> said =
                Scheduler.withScheduledCondition(pod, "False", "Unschedulable", message, cluster.now());
        said.ifPresent(next -> attempt(() -> {
            send("PUT", path(pod) + "/status", "application/json", next);
            event(pod, "Warning", "FailedScheduling", message);
        }));
    }

    /** Somebody else may have been faster, or the pod may be gone: the next pass sees it. */
    private static void attempt(Runnable write) {
        try {
            write.run();
        } catch (ApiError refused) {
            if (refused.code() != 404 && refused.code() != 409) {
                throw refused;
            }
        }
    }

    /** One event for each pod and reason; a repetition counts up. */
    private void event(ObjectNode pod, String type, String reason, String message) {
        String uid = Json.text(pod, "metadata", "uid");
        String name = Json.name(pod) + "." + uid.substring(uid.length() - 8) + "."
                + Integer.toHexString((reason + message).hashCode());
        Optional<ObjectNode> there = cluster.store().get(EVENTS, new Key(Json.namespace(pod), name));
        String events = "/api/v1/namespaces/" + Json.namespace(pod) + "/events";
        if (there.isPresent()) {
            ObjectNode again = Json.object().put("lastTimestamp", cluster.now());
            again.put("count", there.get().path("count").asInt(1) + 1);
            send("PATCH", events + "/" + name, "application/merge-patch+json", again);
            return;
        }
        ObjectNode event = Json.object().put("type", type).put("reason", reason).put("message", message);
        event.putObject("metadata").put("name", name);
        event.putObject("involvedObject")
                .put("kind", "Pod")
                .put("apiVersion", "v1")
                .put("namespace", Json.namespace(pod))
                .put("name", Json.name(pod))
                .put("uid", uid)
                .put("resourceVersion", Json.text(pod, "metadata", "resourceVersion"));
        event.putObject("source").put("component", "default-scheduler");
        event.put("reportingComponent", "default-scheduler").put("reportingInstance", "");
        event.put("count", 1).put("firstTimestamp", cluster.now()).put("lastTimestamp", cluster.now());
        send("POST", events, "application/json", event);
    }

    private static String path(JsonNode pod) {
        return "/api/v1/namespaces/" + Json.namespace(pod) + "/pods/" + Json.name(pod);
    }

    private void send(String method, String path, String contentType, JsonNode body) {
        routes.answer(new Call(
                method,
                path,
                Map.of(),
                contentType,
                "application/json",
                "kube-scheduler/stand-in",
                new User("system:kube-scheduler", List.of("system:authenticated")),
                Json.bytes(body),
                new ArrayList<>()));
    }
}
