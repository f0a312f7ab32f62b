package io.gpufleet.testbed.fakeapiserver.schedule;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.object.Quantity;
import io.gpufleet.testbed.fakeapiserver.select.LabelSelector;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Checks whether a pod fits on a node, with the messages of the real scheduler. */
final class NodeFit {
    private static final String UNTOLERATED = "node(s) had untolerated taint(s)";
    private static final String TOO_MANY_PODS = "Too many pods";
    private static final String INSUFFICIENT = "Insufficient ";

    private NodeFit() {}

    /**
     * Reasons against the node; empty when the pod fits. As in the real scheduler, only the first failing filter is
     * reported.
     */
    static List<String> unschedulableReasons(JsonNode pod, JsonNode node, List<? extends JsonNode> podsOnNode) {
        if (node.path("spec").path("unschedulable").asBoolean(false)
                && !tolerates(pod, "node.kubernetes.io/unschedulable", "", "NoSchedule")) {
            return List.of("node(s) were unschedulable");
        }
        for (JsonNode taint : node.path("spec").path("taints")) {
            String effect = Json.text(taint, "effect");
            String key = Json.text(taint, "key");
            String value = Json.text(taint, "value");
            if (!effect.equals("PreferNoSchedule") && !tolerates(pod, key, value, effect)) {
                return List.of(UNTOLERATED);
            }
        }
        if (!ready(node) && !tolerates(pod, "node.kubernetes.io/not-ready", "", "NoSchedule")) {
            return List.of(UNTOLERATED);
        }
        if (!matchesNodeAffinity(pod, node)) {
            return List.of("node(s) didn't match Pod's node affinity/selector");
        }
        return insufficientResources(pod, node, podsOnNode);
    }

    /** True when the deletion of other pods could help. */
    static boolean isResolvableByPreemption(String obstacle) {
        return obstacle.startsWith(INSUFFICIENT) || obstacle.equals(TOO_MANY_PODS);
    }

    private static boolean ready(JsonNode node) {
        for (JsonNode condition : node.path("status").path("conditions")) {
            if (Json.text(condition, "type").equals("Ready")) {
                return Json.text(condition, "status").equals("True");
            }
        }
        return false;
    }

    private static boolean tolerates(JsonNode pod, String key, String value, String effect) {
        for (JsonNode toleration : pod.path("spec").path("tolerations")) {
            String wantedEffect = Json.text(toleration, "effect");
            String wantedKey = Json.text(toleration, "key");
            boolean exists = Json.text(toleration, "operator").equals("Exists");
            boolean sameEffect = wantedEffect.isEmpty() || wantedEffect.equals(effect);
            boolean sameKey = wantedKey.equals(key) || wantedKey.isEmpty() && exists;
            if (sameEffect
                    && sameKey
                    && (exists || Json.text(toleration, "value").equals(value))) {
                return true;
            }
        }
        return false;
    }

    private static boolean matchesNodeAffinity(JsonNode pod, JsonNode node) {
        JsonNode labels = node.path("metadata").path("labels");
        for (var wanted : pod.path("spec").path("nodeSelector").properties()) {
            if (!labels.path(wanted.getKey())
                            .asText("")
                            .equals(wanted.getValue().asText())
                    || !labels.has(wanted.getKey())) {
                return false;
            }
        }
        JsonNode required =
                Json.at(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution");
        if (required.isMissingNode()) {
            return true;
        }
        for (JsonNode term : required.path("nodeSelectorTerms")) {
            if (matchesTerm(term, node)) {
                return true;
            }
        }
        return false;
    }

    private static boolean matchesTerm(JsonNode term, JsonNode node) {
        boolean any = false;
        for (JsonNode expression : term.path("matchExpressions")) {
            any = true;
            if (!new LabelSelector(List.of(LabelSelector.requirement(expression))).test(node)) {
                return false;
            }
        }
        for (JsonNode expression : term.path("matchFields")) {
            any = true;
            JsonNode fields = Json.object().put("metadata.name", Json.name(node));
            if (!new LabelSelector(List.of(LabelSelector.requirement(expression))).matchesLabels(fields)) {
                return false;
            }
        }
        return any;
    }

    private static List<String> insufficientResources(
            JsonNode pod, JsonNode node, List<? extends JsonNode> podsOnNode) {
        JsonNode allocatable = node.path("status").path("allocatable");
        List<String> reasons = new ArrayList<>();
        if (allocatable.has("pods")
                && Quantity.parse(allocatable.path("pods").asText()).compareTo(BigDecimal.valueOf(podsOnNode.size()))
                        <= 0) {
            reasons.add(TOO_MANY_PODS);
        }
        Map<String, BigDecimal> used = new TreeMap<>();
        podsOnNode.forEach(
                other -> requests(other).forEach((name, amount) -> used.merge(name, amount, BigDecimal::add)));
        requests(pod).forEach((name, amount) -> {
            BigDecimal there = allocatable.has(name)
                    ? Quantity.parse(allocatable.path(name).asText())
                    : BigDecimal.ZERO;
            BigDecimal free = there.subtract(used.getOrDefault(name, BigDecimal.ZERO));
            if (amount.signum() > 0 && amount.compareTo(free) > 0) {
                reasons.add(INSUFFICIENT + name);
            }
        });
        return reasons;
    }

    /** The requests of a pod: the sum of its containers, or its largest init container where that is more. */
    static Map<String, BigDecimal> requests(JsonNode pod) {
        Map<String, BigDecimal> sum = new TreeMap<>();
        pod.path("spec").path("containers").forEach(container -> add(sum, container));
        Map<String, BigDecimal> sidecars = new TreeMap<>();
        Map<String, BigDecimal> most = new TreeMap<>();
        for (JsonNode container : pod.path("spec").path("initContainers")) {
            if (Json.text(container, "restartPolicy").equals("Always")) {
                add(sum, container);
                add(sidecars, container);
                sidecars.forEach((name, amount) -> most.merge(name, amount, BigDecimal::max));
            } else {
                Map<String, BigDecimal> meanwhile = new TreeMap<>(sidecars);
                add(meanwhile, container);
                meanwhile.forEach((name, amount) -> most.merge(name, amount, BigDecimal::max));
            }
        }
        most.forEach((name, amount) -> sum.merge(name, amount, BigDecimal::max));
        return sum;
    }

    private static void add(Map<String, BigDecimal> sum, JsonNode container) {
        for (var request : container.path("resources").path("requests").properties()) {
            sum.merge(request.getKey(), Quantity.parse(request.getValue().asText()), BigDecimal::add);
        }
    }
}
