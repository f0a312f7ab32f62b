package io.gpufleet.cli.schema;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * JSON schemas in a directory, as kubeconform reads them: of what one Kubernetes version serves, from its OpenAPI documents,
 * and of definitions of custom resources. They are strict: an object has no field but those of its schema.
 */
final class KubernetesSchemas {
    private static final String DEFINITIONS = "definitions.json";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern DOCUMENT = Pattern.compile("(?m)^---$");

    private final Path directory;

    KubernetesSchemas(Path directory) {
        this.directory = directory;
    }

    /** The kinds of every stable API in the sources of a Kubernetes version: no alpha, no beta. */
    void addKubernetes(Path sources) throws IOException {
        ObjectNode definitions = JSON.createObjectNode();
        try (DirectoryStream<Path> documents =
                Files.newDirectoryStream(sources.resolve("api/openapi-spec/v3"), "*__v[0-9]_openapi.json")) {
            for (Path document : documents) {
                definitions.setAll((ObjectNode) JSON.readTree(document.toFile()).at("/components/schemas"));
            }
        }
        makeStrict(definitions);
        write(DEFINITIONS, JSON.createObjectNode().set("definitions", definitions));
        for (var definition : definitions.properties()) {
            for (JsonNode kind : definition.getValue().path("x-kubernetes-group-version-kind")) {
                write(
                        fileName(kind.path("kind"), kind.path("group"), kind.path("version")),
                        JSON.createObjectNode().put("$ref", DEFINITIONS + "#/definitions/" + definition.getKey()));
            }
        }
    }

    /** The kinds that the definitions of custom resources in a file define; other objects are passed over. */
    void addCustomResources(Path file) throws IOException {
        var yaml = new KubernetesSerialization();
        List<ObjectNode> objects = DOCUMENT.splitAsStream(Files.readString(file))
                .filter(document -> document.contains("\nkind: CustomResourceDefinition"))
                .map(document -> yaml.unmarshal(document, ObjectNode.class))
                .toList();
        for (ObjectNode object : objects) {
            for (JsonNode version : object.at("/spec/versions")) {
                ObjectNode schema = (ObjectNode) version.at("/schema/openAPIV3Schema");
                ObjectNode properties = schema.withObject("properties");
                List.of("apiVersion", "kind", "metadata").forEach(properties::putObject);
                makeStrict(schema);
                write(fileName(object.at("/spec/names/kind"), object.at("/spec/group"), version.path("name")), schema);
            }
        }
    }

    /** As kubeconform looks for it by {@code {{.ResourceKind}}{{.KindSuffix}}.json}. */
    private static String fileName(JsonNode kind, JsonNode group, JsonNode version) {
        String first = group.asText().isEmpty() ? "" : "-" + group.asText().split("\\.", 2)[0];
        return (kind.asText() + first + "-" + version.asText()).toLowerCase(Locale.ROOT) + ".json";
    }

    /** Refuses unknown fields wherever fields are named, and refers to definitions by their file. */
    private static void makeStrict(JsonNode node) {
        if (node instanceof ObjectNode object) {
            if (object.get("properties") instanceof ObjectNode
                    && !object.has("additionalProperties")
                    && !object.path("x-kubernetes-preserve-unknown-fields").asBoolean()) {
                object.put("additionalProperties", false);
            }
            if (object.get("$ref") instanceof TextNode reference) {
                object.put("$ref", reference.asText().replace("#/components/schemas/", DEFINITIONS + "#/definitions/"));
            }
        }
        node.forEach(KubernetesSchemas::makeStrict);
    }

    private void write(String name, JsonNode schema) throws IOException {
        JSON.writeValue(Files.createDirectories(directory).resolve(name).toFile(), schema);
    }
}
