package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.admission.AdmissionAttributes.UserInfo;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.schedule.Scheduler;
import io.gpufleet.testbed.fakeapiserver.store.ObjectKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes of the control plane itself, on the same path as those of clients. */
public final class LoopbackClient implements Scheduler.SchedulerClient {
    private static final GroupResource EVENTS = new GroupResource("", "events");

    private final ServerContext context;
    private final RequestRouter routes;

    /** A client of the request router. */
    public LoopbackClient(ServerContext cluster, RequestRouter routes) {
        this.context = cluster;
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
        ignoringConflict(() -> {
            send("POST", path(pod) + "/binding", "application/json", binding);
            String where = Json.namespace(pod) + "/" + Json.name(pod);
            event(pod, "Normal", "Scheduled", "Successfully assigned " + where + " to " + node);
        });
    }

    @Override
    public void reportUnschedulable(ObjectNode pod, String message) {
        Optional<ObjectNode> said =
                Scheduler.withScheduledCondition(pod, "False", "Unschedulable", message, context.now());
        said.ifPresent(next -> ignoringConflict(() -> {
            send("PUT", path(pod) + "/status", "application/json", next);
            event(pod, "Warning", "FailedScheduling", message);
        }));
    }

    /** A concurrent write, or the pod is gone; the next pass handles it. */
    private static void ignoringConflict(Runnable write) {
        try {
            write.run();
        } catch (ApiError refused) {
            if (refused.code() != 404 && refused.code() != 409) {
                throw refused;
            }
        }
    }

    /** One event for each pod and reason; a repetition increments its count. */
    private void event(ObjectNode pod, String type, String reason, String message) {
        String uid = Json.text(pod, "metadata", "uid");
        String name = Json.name(pod) + "." + uid.substring(uid.length() - 8) + "."
                + Integer.toHexString((reason + message).hashCode());
        Optional<ObjectNode> there = context.store().get(EVENTS, new ObjectKey(Json.namespace(pod), name));
        String events = "/api/v1/namespaces/" + Json.namespace(pod) + "/events";
        if (there.isPresent()) {
            ObjectNode again = Json.object().put("lastTimestamp", context.now());
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
        event.put("count", 1).put("firstTimestamp", context.now()).put("lastTimestamp", context.now());
        send("POST", events, "application/json", event);
    }

    private static String path(JsonNode pod) {
        return "/api/v1/namespaces/" + Json.namespace(pod) + "/pods/" + Json.name(pod);
    }

    private void send(String method, String path, String contentType, JsonNode body) {
        routes.handle(new ApiRequest(
                method,
                path,
                Map.of(),
                new ApiRequest.Headers(contentType, "application/json", "kube-scheduler/fake"),
                new UserInfo("system:kube-scheduler", List.of("system:authenticated")),
                Json.bytes(body),
                new ArrayList<>()));
    }
}
