package io.gpufleet.compose.kubeapi.apply;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** How a field is owned: as a whole, field by field, item by item. */
sealed interface Shape {
    /** One owner for the whole value. */
    record Atomic() implements Shape {}

    /** Each field of a map has its owners. */
    record Granular() implements Shape {}

    /** Each item of a list has its owners and is found by the values of these keys. */
    record Keyed(List<String> keys) implements Shape {}

    /** Each plain value of a list has its owners. */
    record Values() implements Shape {}

    /** Keys that the real types fill in when they are absent. */
    Map<String, String> KEY_DEFAULTS = Map.of("protocol", "TCP");

    /** Lists of the built-in types with {@code listType=map}; every other list of theirs is atomic or below. */
    Map<String, List<String>> KEYED = Map.ofEntries(
            Map.entry("conditions", List.of("type")),
            Map.entry("addresses", List.of("type")),
            Map.entry("containers", List.of("name")),
            Map.entry("initContainers", List.of("name")),
            Map.entry("ephemeralContainers", List.of("name")),
            Map.entry("env", List.of("name")),
            Map.entry("volumes", List.of("name")),
            Map.entry("volumeMounts", List.of("mountPath")),
            Map.entry("volumeDevices", List.of("devicePath")),
            Map.entry("imagePullSecrets", List.of("name")),
            Map.entry("webhooks", List.of("name")),
            Map.entry("resourceClaims", List.of("name")),
            Map.entry("schedulingGates", List.of("name")),
            Map.entry("matchConditions", List.of("name")),
            Map.entry("hostAliases", List.of("ip")),
            Map.entry("podIPs", List.of("ip")),
            Map.entry("hostIPs", List.of("ip")),
            Map.entry("topologySpreadConstraints", List.of("topologyKey", "whenUnsatisfiable")),
            Map.entry("ownerReferences", List.of("uid")));

    /** Lists of plain values with {@code listType=set}. */
    Set<String> SETS = Set.of("finalizers", "podCIDRs");

    /** Maps of the built-in types that are owned as a whole. */
    Set<String> ATOMIC_MAPS = Set.of("nodeSelector", "selector", "labelSelector", "fieldRef", "secretKeyRef");

    /** The shape of a field of a built-in type, or of metadata. */
    static Shape builtin(String name, JsonNode value) {
        if (value.isObject()) {
            return ATOMIC_MAPS.contains(name) ? new Atomic() : new Granular();
        }
        if (!value.isArray()) {
            return new Atomic();
        }
        if (SETS.contains(name)) {
            return new Values();
        }
        if (name.equals("ports")) {
            return value.path(0).has("port")
                    ? new Keyed(List.of("port", "protocol"))
                    : new Keyed(List.of("containerPort", "protocol"));
        }
        List<String> keys = KEYED.get(name);
        return keys == null ? new Atomic() : new Keyed(keys);
    }

    /** The shape of a custom resource's field: lists are atomic and maps granular unless the schema says else. */
    static Shape custom(JsonNode schema, JsonNode value) {
        if (value.isObject()) {
            return schema.path("x-kubernetes-map-type").asText().equals("atomic") ? new Atomic() : new Granular();
        }
        return switch (schema.path("x-kubernetes-list-type").asText()) {
            case "map" -> {
                List<String> keys = new ArrayList<>();
                schema.path("x-kubernetes-list-map-keys").forEach(key -> keys.add(key.asText()));
                yield new Keyed(keys);
            }
            case "set" -> new Values();
            default -> new Atomic();
        };
    }
}
