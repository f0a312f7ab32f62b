package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.apply.Writer;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.GroupResource;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.schedule.Scheduler;
import io.gpufleet.compose.kubeapi.select.LabelSelector;
import java.util.List;

/** The subresources of pods that do something: binding and eviction. */
final class PodActions {
    private static final GroupResource BUDGETS = new GroupResource("policy", "poddisruptionbudgets");

    private final Cluster cluster;
    private final Writes writes;
    private final Removal removal;

    PodActions(Cluster cluster, Writes writes, Removal removal) {
        this.cluster = cluster;
        this.writes = writes;
        this.removal = removal;
    }

    /** Sets the pod's node; a bound pod is never moved. */
    Answer bind(Target target, Call call) {
        String node = Json.text(call.object(), "target", "name");
        if (node.isEmpty()) {
            throw ApiError.badRequest("target.name: Required value");
        }
        Writer writer = Writer.updating(call.manager(), "binding", target.type());
        writes.change(target, call, writer, live -> bound(target, live, node));
        return Answer.created(Answer.success());
    }

    /** As bind, with the pod named in the body. */
    Answer bindByName(Target pods, Call call) {
        if (!call.method().equals("POST") || pods.namespace().isEmpty()) {
            throw ApiError.methodNotAllowed();
        }
        return bind(new Target(pods.type(), pods.namespace(), Json.name(call.object()), "binding"), call);
    }

    private ObjectNode bound(Target target, ObjectNode live, String node) {
        String there = Json.text(live, "spec", "nodeName");
        if (!there.isEmpty()) {
            throw ApiError.conflict(
                    new GroupResource("", "pods/binding"),
                    target.name(),
                    "pod " + target.name() + " is already assigned to node \"" + there + "\"");
        }
        if (Json.at(live, "metadata").has("deletionTimestamp")) {
            throw ApiError.conflict(
                    new GroupResource("", "pods/binding"),
                    target.name(),
                    "pod " + target.name() + " is being deleted, cannot be assigned to a host");
        }
        ObjectNode next = live.deepCopy();
        Json.dig(next, "spec").put("nodeName", node);
        return Scheduler.withScheduledCondition(next, "True", "", "", cluster.now())
                .orElse(next);
    }

    /** Deletes the pod unless a disruption budget forbids it now. */
    Answer evict(Target target, Call call) {
        JsonNode options = call.object().path("deleteOptions");
        ObjectNode pod = cluster.store()
                .get(target.resource(), target.key())
                .orElseThrow(() -> ApiError.notFound(target.resource(), target.name()));
        String phase = Json.text(pod, "status", "phase");
        boolean counts = phase.equals("Running") && !pod.path("metadata").has("deletionTimestamp");
        if (counts) {
            List<ObjectNode> budgets = cluster.store().list(BUDGETS, target.namespace()).objects().stream()
                    .filter(budget -> LabelSelector.of(budget.path("spec").path("selector"))
                            .test(pod))
                    .toList();
            if (budgets.size() > 1) {
                throw ApiError.internal("This pod has more than one PodDisruptionBudget, which the eviction"
                        + " subresource does not support.");
            }
            budgets.forEach(this::requireRoom);
        }
        removal.delete(new Target(target.type(), target.namespace(), target.name(), ""), call, options);
        return Answer.created(Answer.success());
    }

    /** Counted from the pods at this moment; the real server reads what its controller wrote into the status. */
    private void requireRoom(ObjectNode budget) {
        LabelSelector selector = LabelSelector.of(budget.path("spec").path("selector"));
        List<ObjectNode> pods =
                cluster.store().list(new GroupResource("", "pods"), Json.namespace(budget)).objects().stream()
                        .filter(selector)
                        .toList();
        int healthy = (int) pods.stream().filter(PodActions::ready).count();
        JsonNode spec = budget.path("spec");
        int needed = spec.has("maxUnavailable")
                ? pods.size() - amount(spec.path("maxUnavailable"), pods.size())
                : amount(spec.path("minAvailable"), pods.size());
        if (healthy - 1 < needed) {
            throw ApiError.disruptionBudget(Json.name(budget), needed, healthy);
        }
    }

    private static boolean ready(JsonNode pod) {
        for (JsonNode condition : pod.path("status").path("conditions")) {
            if (Json.text(condition, "type").equals("Ready")) {
                return Json.text(condition, "status").equals("True")
                        && !pod.path("metadata").has("deletionTimestamp");
            }
        }
        return false;
    }

    private static int amount(JsonNode value, int of) {
        String text = value.asText("0");
        return text.endsWith("%")
                ? (int) Math.ceil(Integer.parseInt(text.substring(0, text.length() - 1)) * of / 100.0)
                : Integer.parseInt(text);
    }
}
