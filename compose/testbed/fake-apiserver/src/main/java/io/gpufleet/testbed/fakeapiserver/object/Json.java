package io.gpufleet.testbed.fakeapiserver.object;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;

/** Reads, writes and traverses JSON trees. A shared tree is never changed; a change is made on a copy. */
public final class Json {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ObjectMapper YAML = new YAMLMapper();

    private Json() {}

    /** A request body that must be one object, in JSON or else YAML; empty input is an empty object. */
    public static ObjectNode object(byte[] body) {
        JsonNode tree = parse(body);
        if (tree instanceof ObjectNode object) {
            return object;
        }
        if (tree.isMissingNode()) {
            return object();
        }
        throw ApiError.badRequest("the object provided is unrecognized (must be of type object)");
    }

    /** A request body of any shape, in JSON or else YAML. */
    public static JsonNode parse(byte[] body) {
        int first = 0;
        while (first < body.length && Character.isWhitespace(body[first])) {
            first++;
        }
        if (first == body.length) {
            return JSON.missingNode();
        }
        boolean json = body[first] == '{' || body[first] == '[';
        try {
            return (json ? JSON : YAML).readTree(body);
        } catch (IOException malformed) {
            throw ApiError.badRequest("the body of the request cannot be read: " + malformed.getMessage());
        }
    }

    /** A new, empty object. */
    public static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** A new, empty list. */
    public static ArrayNode array() {
        return JsonNodeFactory.instance.arrayNode();
    }

    /** The compact text of a tree. */
    public static String write(JsonNode tree) {
        try {
            return JSON.writeValueAsString(tree);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("a tree is always serializable", impossible);
        }
    }

    /** The compact UTF-8 of a tree. */
    public static byte[] bytes(JsonNode tree) {
        try {
            return JSON.writeValueAsBytes(tree);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("a tree is always serializable", impossible);
        }
    }

    /** The node at a path of names, or a missing node. */
    public static JsonNode at(JsonNode tree, String... names) {
        JsonNode node = tree;
        for (String name : names) {
            node = node.path(name);
        }
        return node;
    }

    /** The text at a path of names; empty when there is none. */
    public static String text(JsonNode tree, String... names) {
        return at(tree, names).asText("");
    }

    /** The object at a path of names in a tree that is not shared yet; created where it is missing. */
    public static ObjectNode withObject(ObjectNode tree, String... names) {
        ObjectNode node = tree;
        for (String name : names) {
            node = node.get(name) instanceof ObjectNode below ? below : node.putObject(name);
        }
        return node;
    }

    /** metadata.name. */
    public static String name(JsonNode object) {
        return text(object, "metadata", "name");
    }

    /** metadata.namespace; empty for objects without one. */
    public static String namespace(JsonNode object) {
        return text(object, "metadata", "namespace");
    }
}
