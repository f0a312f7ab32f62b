package io.gpufleet.testbed.fakeapiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The merge strategy of a field: atomic, granular, or by item. */
sealed interface MergeStrategy {
    /** Atomic: one owner for the whole value. */
    record Atomic() implements MergeStrategy {}

    /** Granular map: each field has its owners. */
    record Granular() implements MergeStrategy {}

    /** List of type map: each item has its owners and is identified by these keys. */
    record ListTypeMap(List<String> keys) implements MergeStrategy {}

    /** List of type set: each value has its owners. */
    record ListTypeSet() implements MergeStrategy {}

    /** Defaults of keys in the built-in types. */
    Map<String, String> KEY_DEFAULTS = Map.of("protocol", "TCP");

    /** Lists of the built-in types with {@code listType=map}; their other lists are atomic or listed below. */
    Map<String, List<String>> LIST_TYPE_MAP = Map.ofEntries(
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

    /** Lists of scalars with {@code listType=set}. */
    Set<String> LIST_TYPE_SET = Set.of("finalizers", "podCIDRs");

    /** Atomic maps of the built-in types. */
    Set<String> ATOMIC_MAPS = Set.of("nodeSelector", "selector", "labelSelector", "fieldRef", "secretKeyRef");

    /** The strategy of a field of a built-in type, or of metadata. */
    static MergeStrategy builtin(String name, JsonNode value) {
        if (value.isObject()) {
            return ATOMIC_MAPS.contains(name) ? new Atomic() : new Granular();
        }
        if (!value.isArray()) {
            return new Atomic();
        }
        if (LIST_TYPE_SET.contains(name)) {
            return new ListTypeSet();
        }
        if (name.equals("ports")) {
            return value.path(0).has("port")
                    ? new ListTypeMap(List.of("port", "protocol"))
                    : new ListTypeMap(List.of("containerPort", "protocol"));
        }
        List<String> keys = LIST_TYPE_MAP.get(name);
        return keys == null ? new Atomic() : new ListTypeMap(keys);
    }

    /**
     * The strategy of a field of a custom resource: lists are atomic and maps granular unless the schema declares
     * otherwise.
     */
    static MergeStrategy custom(JsonNode schema, JsonNode value) {
        if (value.isObject()) {
            return schema.path("x-kubernetes-map-type").asText().equals("atomic") ? new Atomic() : new Granular();
        }
        return switch (schema.path("x-kubernetes-list-type").asText()) {
            case "map" -> {
                List<String> keys = new ArrayList<>();
                schema.path("x-kubernetes-list-map-keys").forEach(key -> keys.add(key.asText()));
                yield new ListTypeMap(keys);
            }
            case "set" -> new ListTypeSet();
            default -> new Atomic();
        };
    }
}
