package io.gpufleet.testbed.fakeapiserver.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.object.Quantity;
import io.gpufleet.testbed.fakeapiserver.object.StatusCause;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Validation of pods as far as GPUs need it, with the messages of the real server. */
public final class PodValidation {
    private static final Set<String> OVERCOMMITTED = Set.of("cpu", "memory", "ephemeral-storage");
    private static final Set<String> MUTABLE_FIELDS = Set.of(
            "activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates", "nodeName");

    private PodValidation() {}

    /** Validates a new pod; errors are 400 or 422. */
    public static void validateCreate(ResourceType type, JsonNode pod) {
        List<StatusCause> causes = new ArrayList<>();
        JsonNode spec = pod.path("spec");
        if (spec.path("containers").isEmpty()) {
            causes.add(StatusCause.required("spec.containers", ""));
        }
        for (String list : List.of("containers", "initContainers")) {
            JsonNode containers = spec.path(list);
            for (int i = 0; i < containers.size(); i++) {
                validateContainer("spec." + list + "[" + i + "]", containers.get(i), causes);
            }
        }
        if (!causes.isEmpty()) {
            throw ApiError.invalid(type.resource(), type.kind(), Json.name(pod), causes);
        }
    }

    /** Validates an update: immutable fields of a pod; the node is set by binding only. */
    public static void validateUpdate(ResourceType type, JsonNode old, JsonNode next) {
        boolean moved = !Json.text(old, "spec", "nodeName").equals(Json.text(next, "spec", "nodeName"));
        if (moved || !immutableFields(old).equals(immutableFields(next))) {
            throw ApiError.invalid(
                    type.resource(),
                    type.kind(),
                    Json.name(next),
                    List.of(StatusCause.forbidden(
                            "spec",
                            "pod updates may not change fields other than `spec.containers[*].image`,"
                                    + "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
                                    + "`spec.tolerations` (only additions to existing tolerations),"
                                    + "`spec.terminationGracePeriodSeconds`"
                                    + " (allow it to be set to 1 if it was previously negative)")));
        }
    }

    private static JsonNode immutableFields(JsonNode pod) {
        ObjectNode spec = pod.path("spec").deepCopy();
        spec.remove(MUTABLE_FIELDS);
        for (String list : List.of("containers", "initContainers")) {
            spec.path(list).forEach(container -> ((ObjectNode) container).remove("image"));
        }
        return spec;
    }

    private static void validateContainer(String at, JsonNode container, List<StatusCause> causes) {
        if (Json.text(container, "name").isEmpty()) {
            causes.add(StatusCause.required(at + ".name", ""));
        }
        if (Json.text(container, "image").isEmpty()) {
            causes.add(StatusCause.required(at + ".image", ""));
        }
        JsonNode limits = Json.at(container, "resources", "limits");
        JsonNode requests = Json.at(container, "resources", "requests");
        validateQuantities(at + ".resources.limits", limits, causes);
        validateQuantities(at + ".resources.requests", requests, causes);
        Set<String> names = new TreeSet<>();
        requests.fieldNames().forEachRemaining(names::add);
        for (String name : names) {
            validateLimitAndRequest(
                    at,
                    name,
                    limits.path(name),
                    Quantity.parse(requests.path(name).asText()),
                    causes);
        }
    }

    private static void validateLimitAndRequest(
            String at, String name, JsonNode limit, BigDecimal request, List<StatusCause> causes) {
        boolean overcommitted = OVERCOMMITTED.contains(name);
        if (limit.isMissingNode()) {
            if (!overcommitted) {
                causes.add(StatusCause.required(
                        at + ".resources.limits", "Limit must be set for non overcommitable resources"));
            }
            return;
        }
        BigDecimal most = Quantity.parse(limit.asText());
        String shown = Quantity.canonical(request);
        if (!overcommitted && request.compareTo(most) != 0) {
            causes.add(StatusCause.invalid(
                    at + ".resources.requests",
                    shown,
                    "must be equal to " + name + " limit of " + Quantity.canonical(most)));
        } else if (overcommitted && request.compareTo(most) > 0) {
            causes.add(StatusCause.invalid(
                    at + ".resources.requests",
                    shown,
                    "must be less than or equal to " + name + " limit of " + Quantity.canonical(most)));
        }
    }

    private static void validateQuantities(String at, JsonNode amounts, List<StatusCause> causes) {
        for (var amount : amounts.properties()) {
            String field = at + "[" + amount.getKey() + "]";
            BigDecimal value = parse(amount.getValue().asText());
            if (value.signum() < 0) {
                causes.add(StatusCause.invalid(field, Quantity.canonical(value), "must be greater than or equal to 0"));
            }
            if (amount.getKey().contains("/") && !Quantity.isWhole(value)) {
                causes.add(StatusCause.invalid(field, Quantity.canonical(value), "must be an integer"));
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
