package io.gpufleet.testbed.testkit.contract;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * {@code proto/asyncapi.yaml} as a strict reader takes it: a record has the headers and the payload of a message of its
 * channel, a payload has no other fields than the described ones, and an enum no other value than the listed ones. A
 * subscriber must accept more, a program of the same version writes no more.
 */
public final class AsyncApiContract {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final ObjectNode document;
    private final Map<String, JsonSchema> compiled = new HashMap<>();

    private AsyncApiContract(ObjectNode document) {
        this.document = document;
    }

    /** Reads the document of this checkout. */
    public static AsyncApiContract load() {
        try {
            var document = (ObjectNode) new YAMLMapper()
                    .readTree(
                            Repository.module("proto").resolve("asyncapi.yaml").toFile());
            document.at("/components/schemas").forEach(AsyncApiContract::close);
            return new AsyncApiContract(document);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** Admits neither other fields nor other values of enums, whose values are given as examples. */
    private static void close(JsonNode schema) {
        if (!schema.path("properties").has("ce_id")
                && !schema.path("properties").has("dlq.reason")) {
            ((ObjectNode) schema).put("additionalProperties", false);
            schema.path("properties").forEach(AsyncApiContract::closeEnums);
        }
    }

    private static void closeEnums(JsonNode property) {
        JsonNode examples = property.path("examples");
        if (examples.size() > 1) {
            ((ObjectNode) property).set("enum", examples);
        }
        if (property.has("items")) {
            closeEnums(property.get("items"));
        }
    }

    /** Name of the message that a record claims to be. */
    static String message(Topic topic, ConsumerRecord<String, byte[]> record) {
        if (record.value() == null) {
            return "tombstone";
        }
        return topic == Topic.DEADLETTER
                ? "deadletter"
                : headers(record).path("ce_type").asText().replaceFirst("^io\\.gpufleet\\.", "");
    }

    /** Mismatches between one record and the schema. */
    List<String> violations(Topic topic, ConsumerRecord<String, byte[]> record) {
        String message = message(topic, record);
        if (record.value() == null) {
            return topic.compacted() ? List.of() : List.of("no value on a topic that is not compacted");
        }
        JsonNode channel = document.path("channels").path(topic.suffix());
        JsonNode described = document.path("components").path("messages").path(message);
        if (!channel.path("messages").has(message) || described.isMissingNode()) {
            return List.of("is no message of this channel");
        }
        var lines = new ArrayList<String>(validate(described.path("headers"), headers(record)));
        if (described.has("payload")) {
            try {
                lines.addAll(validate(described.path("payload"), JSON.readTree(record.value())));
            } catch (IOException noJson) {
                lines.add("no JSON: " + new String(record.value(), UTF_8));
            }
        }
        return lines;
    }

    private List<String> validate(JsonNode reference, JsonNode value) {
        return compiled.computeIfAbsent(reference.path("$ref").asText(), this::compile).validate(value).stream()
                .map(violation -> violation.getMessage() + " in " + value)
                .toList();
    }

    private JsonSchema compile(String reference) {
        ObjectNode schema = JSON.createObjectNode().put("$ref", reference);
        schema.set("components", document.get("components"));
        return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V7).getSchema(schema);
    }

    private static ObjectNode headers(ConsumerRecord<String, byte[]> record) {
        ObjectNode headers = JSON.createObjectNode();
        record.headers().forEach(header -> headers.put(header.key(), new String(header.value(), UTF_8)));
        return headers;
    }
}
