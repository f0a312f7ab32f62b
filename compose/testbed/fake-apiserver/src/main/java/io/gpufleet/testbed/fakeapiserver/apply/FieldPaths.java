package io.gpufleet.testbed.fakeapiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Converts sets of paths to and from {@code fieldsV1} and to the text of conflicts, and removes paths from a tree. */
final class FieldPaths {
    private FieldPaths() {}

    static Set<List<String>> read(JsonNode fieldsV1) {
        Set<List<String>> paths = new HashSet<>();
        read(fieldsV1, List.of(), paths);
        return paths;
    }

    private static void read(JsonNode node, List<String> path, Set<List<String>> paths) {
        if (node.isEmpty() && !path.isEmpty()) {
            paths.add(path);
        }
        for (var child : node.properties()) {
            if (child.getKey().equals(".")) {
                paths.add(path);
            } else {
                read(child.getValue(), OwnableFields.child(path, child.getKey()), paths);
            }
        }
    }

    static ObjectNode write(Set<List<String>> paths) {
        ObjectNode root = Json.object();
        paths.stream()
                .sorted(Comparator.comparing(path -> String.join("\u0000", path)))
                .forEach(path -> {
                    ObjectNode node = root;
                    for (int i = 0; i < path.size(); i++) {
                        // An owned node with owned children is written as ".".
                        if (i > 0 && node.isEmpty() && paths.contains(path.subList(0, i))) {
                            node.putObject(".");
                        }
                        node = Json.withObject(node, path.get(i));
                    }
                });
        return root;
    }

    /** {@code .status.conditions[type="Ready"].status}. */
    static String text(List<String> path) {
        StringBuilder text = new StringBuilder();
        for (String element : path) {
            String value = element.substring(2);
            switch (element.charAt(0)) {
                case 'f' -> text.append('.').append(value);
                case 'k' ->
                    text.append(Json.parse(value.getBytes(StandardCharsets.UTF_8)).properties().stream()
                            .map(key -> key.getKey() + "=" + Json.write(key.getValue()))
                            .collect(Collectors.joining(",", "[", "]")));
                default -> text.append("[=").append(value).append(']');
            }
        }
        return text.toString();
    }

    /** Removes a path from a tree that is not stored yet, with parents that become empty. */
    static void remove(JsonNode tree, List<String> path) {
        String element = path.getFirst();
        List<String> rest = path.subList(1, path.size());
        if (tree instanceof ObjectNode object && element.startsWith("f:")) {
            String name = element.substring(2);
            JsonNode below = object.path(name);
            if (rest.isEmpty()) {
                object.remove(name);
            } else {
                boolean wasEmpty = below.isEmpty();
                remove(below, rest);
                if (!wasEmpty && below.isEmpty()) {
                    object.remove(name);
                }
            }
        } else if (tree instanceof ArrayNode list) {
            removeItem(list, element, rest);
        }
    }

    private static void removeItem(ArrayNode list, String element, List<String> rest) {
        JsonNode wanted = Json.parse(element.substring(2).getBytes(StandardCharsets.UTF_8));
        for (int i = 0; i < list.size(); i++) {
            boolean found =
                    element.startsWith("k:") ? matchesKey(list.get(i), wanted) : matchesValue(element, list.get(i));
            if (found && rest.isEmpty()) {
                list.remove(i);
                return;
            }
            if (found) {
                remove(list.get(i), rest);
                return;
            }
        }
    }

    private static boolean matchesValue(String element, JsonNode item) {
        return element.equals("v:" + Json.write(item));
    }

    private static boolean matchesKey(JsonNode item, JsonNode key) {
        List<String> names = new ArrayList<>();
        key.fieldNames().forEachRemaining(names::add);
        return OwnableFields.key(names, item).equals(key);
    }
}
