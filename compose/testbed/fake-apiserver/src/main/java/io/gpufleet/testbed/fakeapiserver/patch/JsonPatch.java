package io.gpufleet.testbed.fakeapiserver.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import java.util.Arrays;
import java.util.List;

/** RFC 6902. */
public final class JsonPatch {
    private JsonPatch() {}

    /** A new tree; an operation that cannot be applied, or a failed test, is 422 and changes nothing. */
    public static JsonNode apply(JsonNode target, JsonNode patch) {
        if (!patch.isArray()) {
            throw ApiError.badRequest("error decoding patch: a JSON patch is a list of operations");
        }
        JsonNode tree = target.deepCopy();
        for (JsonNode operation : patch) {
            applyOperation(tree, operation);
        }
        return tree;
    }

    private static void applyOperation(JsonNode tree, JsonNode operation) {
        List<String> path = pointer(operation.path("path").asText());
        switch (operation.path("op").asText()) {
            case "add" -> add(tree, path, operation.path("value"));
            case "remove" -> remove(tree, path);
            case "replace" -> {
                find(tree, path);
                set(tree, path, operation.path("value"));
            }
            case "test" -> {
                // The Kubernetes API server takes null for a member that is absent.
                JsonNode found = member(tree, path);
                JsonNode value = operation.path("value");
                if (found.isMissingNode() ? !value.isNull() : !found.equals(value)) {
                    throw refused("testing value " + operation.path("path").asText() + " failed");
                }
            }
            case "copy" ->
                add(
                        tree,
                        path,
                        find(tree, pointer(operation.path("from").asText())).deepCopy());
            case "move" -> {
                List<String> from = pointer(operation.path("from").asText());
                JsonNode moved = find(tree, from);
                remove(tree, from);
                add(tree, path, moved);
            }
            default -> throw refused("Unexpected kind: " + operation.path("op").asText());
        }
    }

    private static List<String> pointer(String text) {
        if (!text.startsWith("/")) {
            throw refused("the path '" + text + "' does not start with '/'");
        }
        return Arrays.stream(text.substring(1).split("/", -1))
                .map(part -> part.replace("~1", "/").replace("~0", "~"))
                .toList();
    }

    private static JsonNode find(JsonNode tree, List<String> path) {
        JsonNode node = tree;
        for (String part : path) {
            node = node instanceof ArrayNode list ? list.path(index(part, list.size() - 1)) : node.path(part);
            if (node.isMissingNode()) {
                throw refused("the path '/" + String.join("/", path) + "' does not exist");
            }
        }
        return node;
    }

    private static JsonNode parent(JsonNode tree, List<String> path) {
        return find(tree, path.subList(0, path.size() - 1));
    }

    /** A member of an object, missing where the object has none of that name; an element of a list. */
    private static JsonNode member(JsonNode tree, List<String> path) {
        return !path.isEmpty() && parent(tree, path) instanceof ObjectNode object
                ? object.path(path.getLast())
                : find(tree, path);
    }

    private static void add(JsonNode tree, List<String> path, JsonNode value) {
        if (parent(tree, path) instanceof ArrayNode list) {
            String last = path.getLast();
            list.insert(last.equals("-") ? list.size() : index(last, list.size()), value);
        } else {
            set(tree, path, value);
        }
    }

    private static void set(JsonNode tree, List<String> path, JsonNode value) {
        switch (parent(tree, path)) {
            case ArrayNode list -> list.set(index(path.getLast(), list.size() - 1), value);
            case ObjectNode object -> object.set(path.getLast(), value);
            default -> throw refused("the path '/" + String.join("/", path) + "' leads through a plain value");
        }
    }

    private static void remove(JsonNode tree, List<String> path) {
        find(tree, path);
        switch (parent(tree, path)) {
            case ArrayNode list -> list.remove(index(path.getLast(), list.size() - 1));
            case ObjectNode object -> object.remove(path.getLast());
            default -> throw refused("the path '/" + String.join("/", path) + "' leads through a plain value");
        }
    }

    private static int index(String part, int max) {
        try {
            int index = Integer.parseInt(part);
            if (index >= 0 && index <= max) {
                return index;
            }
        } catch (NumberFormatException notAnIndex) {
            // handled below
        }
        throw refused("'" + part + "' is no index of a list whose last one is " + max);
    }

    private static ApiError refused(String why) {
        return ApiError.unprocessable("the server rejected our request due to an error in our request: " + why);
    }
}
