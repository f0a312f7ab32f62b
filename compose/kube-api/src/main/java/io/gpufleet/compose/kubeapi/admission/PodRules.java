package io.gpufleet.compose.kubeapi.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Cause;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.object.Quantity;
import io.gpufleet.compose.kubeapi.type.ResourceType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The rules of pods that people run into with GPUs, with the real server's texts. */
public final class PodRules {
    private static final Set<String> OVERCOMMITTED = Set.of("cpu", "memory", "ephemeral-storage");
    private static final Set<String> CHANGEABLE = Set.of(
            "activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates", "nodeName");

    private PodRules() {}

    /** Refuses a new pod with 400 or 422. */
    public static void checkNew(ResourceType type, JsonNode pod) {
        List<Cause> causes = new ArrayList<>();
        JsonNode spec = pod.path("spec");
        if (spec.path("containers").isEmpty()) {
            causes.add(Cause.required("spec.containers", ""));
        }
        for (String list : List.of("containers", "initContainers")) {
            JsonNode containers = spec.path(list);
            for (int i = 0; i < containers.size(); i++) {
                container("spec." + list + "[" + i + "]", containers.get(i), causes);
            }
        }
        if (!causes.isEmpty()) {
            throw ApiError.invalid(type.resource(), type.kind(), Json.name(pod), causes);
        }
    }

    /** Refuses a change of what can not change in a pod; the node is set by binding only. */
    public static void checkChange(ResourceType type, JsonNode old, JsonNode next) {
        boolean moved = !Json.text(old, "spec", "nodeName").equals(Json.text(next, "spec", "nodeName"));
        if (moved || !fixed(old).equals(fixed(next))) {
            throw ApiError.invalid(
                    type.resource(),
                    type.kind(),
                    Json.name(next),
                    List.of(Cause.forbidden(
                            "spec",
                            "pod updates may not change fields other than `spec.containers[*].image`,"
                                    + "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
                                    + "`spec.tolerations` (only additions to existing tolerations),"
                                    + "`spec.terminationGracePeriodSeconds`"
                                    + " (allow it to be set to 1 if it was previously negative)")));
        }
    }

    private static JsonNode fixed(JsonNode pod) {
        ObjectNode spec = pod.path("spec").deepCopy();
        spec.remove(CHANGEABLE);
        for (String list : List.of("containers", "initContainers")) {
            spec.path(list).forEach(container -> ((ObjectNode) container).remove("image"));
        }
        return spec;
    }

    private static void container(String at, JsonNode container, List<Cause> causes) {
        if (Json.text(container, "name").isEmpty()) {
            causes.add(Cause.required(at + ".name", ""));
        }
        if (Json.text(container, "image").isEmpty()) {
            causes.add(Cause.required(at + ".image", ""));
        }
        JsonNode limits = Json.at(container, "resources", "limits");
        JsonNode requests = Json.at(container, "resources", "requests");
        amounts(at + ".resources.limits", limits, causes);
        amounts(at + ".resources.requests", requests, causes);
        Set<String> names = new TreeSet<>();
        requests.fieldNames().forEachRemaining(names::add);
        for (String name : names) {
            pair(at, name, limits.path(name), Quantity.parse(requests.path(name).asText()), causes);
        }
    }

    private static void pair(String at, String name, JsonNode limit, BigDecimal request, List<Cause> causes) {
        boolean overcommitted = OVERCOMMITTED.contains(name);
        if (limit.isMissingNode()) {
            if (!overcommitted) {
                causes.add(
                        Cause.required(at + ".resources.limits", "Limit must be set for non overcommitable resources"));
            }
            return;
        }
        BigDecimal most = Quantity.parse(limit.asText());
        String shown = Quantity.canonical(request);
        if (!overcommitted && request.compareTo(most) != 0) {
            causes.add(Cause.invalid(
                    at + ".resources.requests",
                    shown,
                    "must be equal to " + name + " limit of " + Quantity.canonical(most)));
        } else if (overcommitted && request.compareTo(most) > 0) {
            causes.add(Cause.invalid(
                    at + ".resources.requests",
                    shown,
                    "must be less than or equal to " + name + " limit of " + Quantity.canonical(most)));
        }
    }

    private static void amounts(String at, JsonNode amounts, List<Cause> causes) {
        for (var amount : amounts.properties()) {
            String field = at + "[" + amount.getKey() + "]";
            BigDecimal value = parse(amount.getValue().asText());
            if (value.signum() < 0) {
                causes.add(Cause.invalid(field, Quantity.canonical(value), "must be greater than or equal to 0"));
            }
            if (amount.getKey().contains("/") && !Quantity.isWhole(value)) {
                causes.add(Cause.invalid(field, Quantity.canonical(value), "must be an integer"));
            }
        }
    }

    private static BigDecimal parse(String text) {
        try {
            return Quantity.parse(text);
        } catch (NumberFormatException malformed) {
            throw ApiError.badRequest("Pod in version \"v1\" cannot be handled as a Pod: " + malformed.getMessage());
        }
    }
}
