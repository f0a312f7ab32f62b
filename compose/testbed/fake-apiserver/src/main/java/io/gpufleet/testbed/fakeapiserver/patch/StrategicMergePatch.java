package io.gpufleet.testbed.fakeapiserver.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Strategic merge patch of Kubernetes. Which lists merge, and by which key, is the {@code patchStrategy} of the Go
 * types; here the name of the list decides, which is right for the built-in resources served. Taints and tolerations
 * have no strategy and are replaced.
 */
public final class StrategicMergePatch {
    private static final String DIRECTIVE = "$patch";
    private static final String DELETE_FROM = "$deleteFromPrimitiveList/";
    private static final String ORDER = "$setElementOrder/";
    private static final String RETAIN = "$retainKeys";
    private static final Set<String> PRIMITIVES = Set.of("finalizers", "podCIDRs");
    private static final Map<String, String> MERGE_KEYS = Map.ofEntries(
            Map.entry("conditions", "type"),
            Map.entry("addresses", "type"),
            Map.entry("containers", "name"),
            Map.entry("initContainers", "name"),
            Map.entry("ephemeralContainers", "name"),
            Map.entry("env", "name"),
            Map.entry("volumes", "name"),
            Map.entry("volumeMounts", "mountPath"),
            Map.entry("volumeDevices", "devicePath"),
            Map.entry("imagePullSecrets", "name"),
            Map.entry("secrets", "name"),
            Map.entry("webhooks", "name"),
            Map.entry("resourceClaims", "name"),
            Map.entry("schedulingGates", "name"),
            Map.entry("hostAliases", "ip"),
            Map.entry("podIPs", "ip"),
            Map.entry("topologySpreadConstraints", "topologyKey"),
            Map.entry("ownerReferences", "uid"));

    private StrategicMergePatch() {}

    /** A new tree; the arguments are not changed. */
    public static JsonNode apply(JsonNode target, JsonNode patch) {
        if (!(patch instanceof ObjectNode changes)) {
            return patch;
        }
        String directive = Json.text(changes, DIRECTIVE);
        if (directive.equals("delete")) {
            return Json.object();
        }
        ObjectNode result =
                target instanceof ObjectNode object && !directive.equals("replace") ? object.deepCopy() : Json.object();
        retain(result, changes.path(RETAIN));
        for (var change : changes.properties()) {
            field(result, change.getKey(), change.getValue());
        }
        changes.properties().stream()
                .filter(change -> change.getKey().startsWith(ORDER))
                .forEach(change -> order(result, change.getKey().substring(ORDER.length()), change.getValue()));
        return result;
    }

    private static void field(ObjectNode result, String name, JsonNode value) {
        if (name.startsWith(DELETE_FROM)) {
            String list = name.substring(DELETE_FROM.length());
            ArrayNode left = Json.array();
            result.path(list).forEach(item -> {
                if (!contains(value, item)) {
                    left.add(item);
                }
            });
            result.set(list, left);
        } else if (name.startsWith("$")) {
            return;
        } else if (value.isNull()) {
            result.remove(name);
        } else if (value instanceof ArrayNode items) {
            result.set(name, list(name, result.path(name), items));
        } else {
            result.set(name, apply(result.path(name), value));
        }
    }

    private static ArrayNode list(String name, JsonNode old, ArrayNode patch) {
        if (PRIMITIVES.contains(name)) {
            ArrayNode union = Json.array();
            old.forEach(union::add);
            patch.forEach(item -> {
                if (!contains(union, item)) {
                    union.add(item);
                }
            });
            return union;
        }
        Optional<String> key = mergeKey(name, patch);
        return key.isPresent() ? merged(key.get(), old, patch) : patch.deepCopy();
    }

    private static Optional<String> mergeKey(String name, ArrayNode patch) {
        if (name.equals("ports")) {
            JsonNode first = patch.path(0);
            return first.has("containerPort")
                    ? Optional.of("containerPort")
                    : first.has("port") ? Optional.of("port") : Optional.empty();
        }
        return Optional.ofNullable(MERGE_KEYS.get(name));
    }

    private static ArrayNode merged(String key, JsonNode old, ArrayNode patch) {
        List<JsonNode> items = new ArrayList<>();
        for (JsonNode item : patch) {
            if (Json.text(item, DIRECTIVE).equals("replace") && !item.has(key)) {
                return without(patch);
            }
        }
        old.forEach(items::add);
        for (JsonNode item : patch) {
            int found = indexOf(items, key, item.path(key));
            if (Json.text(item, DIRECTIVE).equals("delete")) {
                if (found >= 0) {
                    items.remove(found);
                }
            } else if (found >= 0) {
                items.set(found, apply(items.get(found), item));
            } else {
                items.add(apply(Json.object(), item));
            }
        }
        ArrayNode result = Json.array();
        items.forEach(result::add);
        return result;
    }

    private static ArrayNode without(ArrayNode patch) {
        ArrayNode result = Json.array();
        patch.forEach(item -> {
            if (!item.has(DIRECTIVE)) {
                result.add(item);
            }
        });
        return result;
    }

    private static int indexOf(List<JsonNode> items, String key, JsonNode value) {
        for (int i = 0; i < items.size(); i++) {
            if (items.get(i).path(key).equals(value)) {
                return i;
            }
        }
        return -1;
    }

    /** Listed elements first, in this order; other elements follow in their order. */
    private static void order(ObjectNode result, String name, JsonNode wanted) {
        if (!(result.get(name) instanceof ArrayNode list)) {
            return;
        }
        List<JsonNode> left = new ArrayList<>();
        list.forEach(left::add);
        ArrayNode ordered = Json.array();
        for (JsonNode entry : wanted) {
            left.stream().filter(item -> same(item, entry)).findFirst().ifPresent(item -> {
                ordered.add(item);
                left.remove(item);
            });
        }
        left.forEach(ordered::add);
        result.set(name, ordered);
    }

    private static boolean same(JsonNode item, JsonNode entry) {
        return entry.isObject()
                ? entry.properties().stream()
                        .allMatch(key -> item.path(key.getKey()).equals(key.getValue()))
                : item.equals(entry);
    }

    private static void retain(ObjectNode result, JsonNode keys) {
        if (keys.isArray()) {
            List<String> names = new ArrayList<>();
            keys.forEach(key -> names.add(key.asText()));
            result.retain(names);
        }
    }

    private static boolean contains(JsonNode list, JsonNode wanted) {
        for (JsonNode item : list) {
            if (item.equals(wanted)) {
                return true;
            }
        }
        return false;
    }
}
