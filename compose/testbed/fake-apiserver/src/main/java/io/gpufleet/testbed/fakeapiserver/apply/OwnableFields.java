package io.gpufleet.testbed.fakeapiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Splits an object into the fields that can be owned. A path is a list of elements in the notation of {@code fieldsV1}:
 * {@code f:name}, {@code k:{"type":"Ready"}}, {@code v:"x"}.
 */
final class OwnableFields {
    private final boolean custom;
    private final Map<List<String>, JsonNode> leaves = new LinkedHashMap<>();

    private OwnableFields(boolean custom) {
        this.custom = custom;
    }

    /** Every ownable path with its value; the item of a list of type map has a missing node. */
    static Map<List<String>, JsonNode> of(ResourceType type, JsonNode object) {
        OwnableFields fields = new OwnableFields(type.custom());
        for (var field : object.properties()) {
            fields.walk(field.getKey(), field.getValue(), schema(type, field.getKey()), List.of("f:" + field.getKey()));
        }
        return fields.leaves;
    }

    private static JsonNode schema(ResourceType type, String field) {
        // Metadata is the same for all types; a missing schema means a built-in type.
        return field.equals("metadata")
                ? MissingNode.getInstance()
                : type.schema().path("properties").path(field);
    }

    private boolean usesBuiltinStrategy(List<String> path) {
        return !custom || path.getFirst().equals("f:metadata");
    }

    private MergeStrategy mergeStrategy(String name, JsonNode value, JsonNode schema, List<String> path) {
        return usesBuiltinStrategy(path) ? MergeStrategy.builtin(name, value) : MergeStrategy.custom(schema, value);
    }

    private void walk(String name, JsonNode value, JsonNode schema, List<String> path) {
        if (value.isContainerNode() && value.isEmpty()) {
            leaves.put(path, value);
            return;
        }
        switch (mergeStrategy(name, value, schema, path)) {
            case MergeStrategy.Atomic atomic -> leaves.put(path, value);
            case MergeStrategy.Granular granular -> fields(value, schema, path);
            case MergeStrategy.ListTypeMap keyed -> {
                for (JsonNode item : value) {
                    List<String> itemPath = child(path, "k:" + Json.write(key(keyed.keys(), item)));
                    leaves.put(itemPath, MissingNode.getInstance());
                    fields(item, schema.path("items"), itemPath);
                }
            }
            case MergeStrategy.ListTypeSet values ->
                value.forEach(item -> leaves.put(child(path, "v:" + Json.write(item)), item));
        }
    }

    private void fields(JsonNode value, JsonNode schema, List<String> path) {
        for (var field : value.properties()) {
            JsonNode below = schema.path("properties").path(field.getKey());
            walk(
                    field.getKey(),
                    field.getValue(),
                    below.isMissingNode() ? schema.path("additionalProperties") : below,
                    child(path, "f:" + field.getKey()));
        }
    }

    /** The keys of an item, ordered by name. */
    static ObjectNode key(List<String> keys, JsonNode item) {
        ObjectNode key = Json.object();
        keys.stream().sorted().forEach(name -> {
            JsonNode value = item.path(name);
            String fallback = MergeStrategy.KEY_DEFAULTS.getOrDefault(name, "");
            key.set(name, value.isMissingNode() ? key.textNode(fallback) : value);
        });
        return key;
    }

    static List<String> child(List<String> path, String element) {
        List<String> longer = new ArrayList<>(path);
        longer.add(element);
        return List.copyOf(longer);
    }

    /** Merges the applied object into the live one. */
    static JsonNode merge(ResourceType type, JsonNode live, JsonNode applied) {
        OwnableFields fields = new OwnableFields(type.custom());
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
        return switch (mergeStrategy(name, applied, schema, path)) {
            case MergeStrategy.Atomic atomic -> applied.deepCopy();
            case MergeStrategy.Granular granular -> mergedMap(live, applied, schema, path);
            case MergeStrategy.ListTypeMap keyed -> {
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
            case MergeStrategy.ListTypeSet values -> {
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
                            child(path, "f:" + field.getKey())));
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
