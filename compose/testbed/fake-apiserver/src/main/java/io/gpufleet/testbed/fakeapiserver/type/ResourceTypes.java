package io.gpufleet.testbed.fakeapiserver.type;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * All served resource types. Custom resources follow their definition; their schema is not enforced.
 */
public final class ResourceTypes {
    private final List<ResourceType> builtins = BuiltinTypes.all();
    private final ConcurrentHashMap<String, List<ResourceType>> custom = new ConcurrentHashMap<>();

    /** All served resources, built-in ones first. */
    public List<ResourceType> all() {
        return Stream.concat(builtins.stream(), custom.values().stream().flatMap(List::stream))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    /** The resource at a group, version and plural. */
    public Optional<ResourceType> find(String group, String version, String plural) {
        GroupResource wanted = new GroupResource(group, plural);
        return all().stream()
                .filter(type -> type.resource().equals(wanted) && type.version().equals(version))
                .findFirst();
    }

    /** A built-in resource. */
    public ResourceType builtin(String group, String plural) {
        return find(group, "v1", plural).orElseThrow();
    }

    /** Adds the resource of a CustomResourceDefinition. */
    public void register(JsonNode definition) {
        JsonNode spec = definition.path("spec");
        JsonNode names = spec.path("names");
        String kind = Json.text(names, "kind");
        List<ResourceType> types = new ArrayList<>();
        for (JsonNode version : spec.path("versions")) {
            if (version.path("served").asBoolean(false)) {
                types.add(new ResourceType(
                        new GroupResource(Json.text(spec, "group"), Json.text(names, "plural")),
                        Json.text(version, "name"),
                        new ResourceType.Names(
                                names.path("singular").asText(kind.toLowerCase(Locale.ROOT)),
                                kind,
                                StreamSupport.stream(names.path("shortNames").spliterator(), false)
                                        .map(JsonNode::asText)
                                        .toList()),
                        Json.text(spec, "scope").equals("Namespaced"),
                        version.path("subresources").has("status"),
                        version.path("additionalPrinterColumns"),
                        schema(version)));
            }
        }
        custom.put(Json.name(definition), types);
    }

    /** Removes the resource of a deleted definition. */
    public void unregister(String definition) {
        custom.remove(definition);
    }

    /** The status that controllers of the real server write once a definition is served. */
    public static ObjectNode established(JsonNode definition, String now) {
        ObjectNode status = Json.object();
        status.set("acceptedNames", Json.at(definition, "spec", "names"));
        ArrayNode stored = status.putArray("storedVersions");
        for (JsonNode version : Json.at(definition, "spec", "versions")) {
            if (version.path("storage").asBoolean(false)) {
                stored.add(Json.text(version, "name"));
            }
        }
        ArrayNode conditions = status.putArray("conditions");
        condition(conditions, "NamesAccepted", "NoConflicts", "no conflicts found", now);
        condition(conditions, "Established", "InitialNamesAccepted", "the initial names have been accepted", now);
        return status;
    }

    private static void condition(ArrayNode conditions, String type, String reason, String message, String now) {
        conditions
                .addObject()
                .put("type", type)
                .put("status", "True")
                .put("lastTransitionTime", now)
                .put("reason", reason)
                .put("message", message);
    }

    private static JsonNode schema(JsonNode version) {
        JsonNode schema = Json.at(version, "schema", "openAPIV3Schema");
        return schema.isMissingNode() ? Json.object() : schema;
    }
}
