package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.apply.FieldOwner;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.schedule.Scheduler;
import io.gpufleet.testbed.fakeapiserver.select.LabelSelector;
import java.util.List;

/** Subresources of pods with an action: binding and eviction. */
final class PodSubresources {
    private static final GroupResource BUDGETS = new GroupResource("policy", "poddisruptionbudgets");

    private final ServerContext context;
    private final WriteHandler writeHandler;
    private final DeleteHandler deleteHandler;

    PodSubresources(ServerContext cluster, WriteHandler writes, DeleteHandler removal) {
        this.context = cluster;
        this.writeHandler = writes;
        this.deleteHandler = removal;
    }

    /** Sets the node of a pod; a bound pod is not moved. */
    ApiResponse bind(RequestInfo target, ApiRequest call) {
        String node = Json.text(call.bodyObject(), "target", "name");
        if (node.isEmpty()) {
            throw ApiError.badRequest("target.name: Required value");
        }
        FieldOwner writer = FieldOwner.forUpdate(call.fieldManager(), "binding", target.type());
        writeHandler.guaranteedUpdate(target, call, writer, live -> withNodeName(target, live, node));
        return ApiResponse.created(ApiResponse.success());
    }

    /** Like bind, with the name of the pod in the body. */
    ApiResponse bindByName(RequestInfo pods, ApiRequest call) {
        if (!call.method().equals("POST") || pods.namespace().isEmpty()) {
            throw ApiError.methodNotAllowed();
        }
        return bind(new RequestInfo(pods.type(), pods.namespace(), Json.name(call.bodyObject()), "binding"), call);
    }

    private ObjectNode withNodeName(RequestInfo target, ObjectNode live, String node) {
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
        Json.withObject(next, "spec").put("nodeName", node);
        return Scheduler.withScheduledCondition(next, "True", "", "", context.now())
                .orElse(next);
    }

    /** Deletes the pod unless a disruption budget forbids it now. */
    ApiResponse evict(RequestInfo target, ApiRequest call) {
        JsonNode options = call.bodyObject().path("deleteOptions");
        ObjectNode pod = context.store()
                .get(target.resource(), target.key())
                .orElseThrow(() -> ApiError.notFound(target.resource(), target.name()));
        String phase = Json.text(pod, "status", "phase");
        boolean counts = phase.equals("Running") && !pod.path("metadata").has("deletionTimestamp");
        if (counts) {
            List<ObjectNode> budgets = context.store().list(BUDGETS, target.namespace()).objects().stream()
                    .filter(budget -> LabelSelector.of(budget.path("spec").path("selector"))
                            .test(pod))
                    .toList();
            if (budgets.size() > 1) {
                throw ApiError.internal("This pod has more than one PodDisruptionBudget, which the eviction"
                        + " subresource does not support.");
            }
            budgets.forEach(this::checkDisruptionBudget);
        }
        deleteHandler.delete(new RequestInfo(target.type(), target.namespace(), target.name(), ""), call, options);
        return ApiResponse.created(ApiResponse.success());
    }

    /** Counts the pods; the real server reads the status that its controller wrote. */
    private void checkDisruptionBudget(ObjectNode budget) {
        LabelSelector selector = LabelSelector.of(budget.path("spec").path("selector"));
        List<ObjectNode> pods =
                context.store().list(new GroupResource("", "pods"), Json.namespace(budget)).objects().stream()
                        .filter(selector)
                        .toList();
        int healthy = (int) pods.stream().filter(PodSubresources::ready).count();
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
