package io.gpufleet.compose.kubeapi.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.type.ResourceType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An object cut into the pieces that can be owned. A path is a list of elements in the notation of {@code fieldsV1}:
 * {@code f:name}, {@code k:{"type":"Ready"}}, {@code v:"x"}.
 */
final class Fields {
    private final boolean custom;
    private final Map<List<String>, JsonNode> pieces = new LinkedHashMap<>();

    private Fields(boolean custom) {
        this.custom = custom;
    }

    /** Every ownable path with its value; an item of a keyed list itself has a missing node. */
    static Map<List<String>, JsonNode> of(ResourceType type, JsonNode object) {
        Fields fields = new Fields(type.custom());
        for (var field : object.properties()) {
            fields.walk(field.getKey(), field.getValue(), schema(type, field.getKey()), List.of("f:" + field.getKey()));
        }
        return fields.pieces;
    }

    private static JsonNode schema(ResourceType type, String field) {
        // Metadata is the same for all; a missing schema stands for "as in the built-in types".
        return field.equals("metadata")
                ? MissingNode.getInstance()
                : type.schema().path("properties").path(field);
    }

    private boolean asBuiltin(List<String> path) {
        return !custom || path.getFirst().equals("f:metadata");
    }

    private Shape shape(String name, JsonNode value, JsonNode schema, List<String> path) {
        return asBuiltin(path) ? Shape.builtin(name, value) : Shape.custom(schema, value);
    }

    private void walk(String name, JsonNode value, JsonNode schema, List<String> path) {
        if (value.isContainerNode() && value.isEmpty()) {
            pieces.put(path, value);
            return;
        }
        switch (shape(name, value, schema, path)) {
            case Shape.Atomic atomic -> pieces.put(path, value);
            case Shape.Granular granular -> fields(value, schema, path);
            case Shape.Keyed keyed -> {
                for (JsonNode item : value) {
                    List<String> itemPath = below(path, "k:" + Json.write(key(keyed.keys(), item)));
                    pieces.put(itemPath, MissingNode.getInstance());
                    fields(item, schema.path("items"), itemPath);
                }
            }
            case Shape.Values values -> value.forEach(item -> pieces.put(below(path, "v:" + Json.write(item)), item));
        }
    }

    private void fields(JsonNode value, JsonNode schema, List<String> path) {
        for (var field : value.properties()) {
            JsonNode below = schema.path("properties").path(field.getKey());
            walk(
                    field.getKey(),
                    field.getValue(),
                    below.isMissingNode() ? schema.path("additionalProperties") : below,
                    below(path, "f:" + field.getKey()));
        }
    }

    /** The keys of an item, in the order of their names. */
    static ObjectNode key(List<String> keys, JsonNode item) {
        ObjectNode key = Json.object();
        keys.stream().sorted().forEach(name -> {
            JsonNode value = item.path(name);
            String fallback = Shape.KEY_DEFAULTS.getOrDefault(name, "");
            key.set(name, value.isMissingNode() ? key.textNode(fallback) : value);
        });
        return key;
    }

    static List<String> below(List<String> path, String element) {
        List<String> longer = new ArrayList<>(path);
        longer.add(element);
        return List.copyOf(longer);
    }

    /** What was applied laid over what is there. */
    static JsonNode merge(ResourceType type, JsonNode live, JsonNode applied) {
        Fields fields = new Fields(type.custom());
        ObjectNode result = live.deepCopy();
        for (var field : applied.properties()) {
            String name = field.getKey();
            result.set(
                    name,
                    fields.merged(name, live.path(name), field.getValue(), schema(type, name), List.of("f:" + name)));
        }
        return result;
    }

    private JsonNode merged(String name, JsonNode live, JsonNode applied, JsonNode schema, List<String> path) {
        if (!live.getNodeType().equals(applied.getNodeType())) {
            return applied.deepCopy();
        }
        return switch (shape(name, applied, schema, path)) {
            case Shape.Atomic atomic -> applied.deepCopy();
            case Shape.Granular granular -> mergedMap(live, applied, schema, path);
            case Shape.Keyed keyed -> {
                ArrayNode result = live.deepCopy();
                for (JsonNode item : applied) {
                    int at = indexOf(result, keyed.keys(), key(keyed.keys(), item));
                    if (at < 0) {
                        result.add(item.deepCopy());
                    } else {
                        result.set(at, mergedMap(result.get(at), item, schema.path("items"), path));
                    }
                }
                yield result;
            }
            case Shape.Values values -> {
                ArrayNode result = live.deepCopy();
                for (JsonNode item : applied) {
                    boolean there = false;
                    for (JsonNode old : live) {
                        there |= old.equals(item);
                    }
                    if (!there) {
                        result.add(item);
                    }
                }
                yield result;
            }
        };
    }

    private ObjectNode mergedMap(JsonNode live, JsonNode applied, JsonNode schema, List<String> path) {
        ObjectNode result = live.deepCopy();
        for (var field : applied.properties()) {
            JsonNode below = schema.path("properties").path(field.getKey());
            result.set(
                    field.getKey(),
                    merged(
                            field.getKey(),
                            live.path(field.getKey()),
                            field.getValue(),
                            below.isMissingNode() ? schema.path("additionalProperties") : below,
                            below(path, "f:" + field.getKey())));
        }
        return result;
    }

    private static int indexOf(JsonNode list, List<String> keys, JsonNode wanted) {
        for (int i = 0; i < list.size(); i++) {
            if (key(keys, list.get(i)).equals(wanted)) {
                return i;
            }
        }
        return -1;
    }
}
