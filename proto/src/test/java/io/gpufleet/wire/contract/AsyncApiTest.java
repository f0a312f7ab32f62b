package io.gpufleet.wire.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.PayloadEncoding;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/**
 * {@code asyncapi.yaml} is valid by the official schema of AsyncAPI 3.1, and agrees with the catalogue.
 */
@NullMarked
@SuppressWarnings("unchecked")
class AsyncApiTest {
    private static final String OFFICIAL_SCHEMA = "/asyncapi/asyncapi-3.1.0.schema.json";

    private static String text = "";
    private static Map<String, Object> document = Map.of();

    @BeforeAll
    static void read() throws IOException {
        if (Boolean.getBoolean("asyncapi.write")) {
            AsyncApiMain.main(new String[0]);
        }
        text = Files.readString(Path.of("asyncapi.yaml"));
        document = new Yaml().load(text);
    }

    @Test
    void fileEqualsTheOutputOfTheGenerator() {
        assertThat(text)
                .as("run 'mvn -pl proto test -Dtest=AsyncApiTest -Dasyncapi.write' and commit proto/asyncapi.yaml")
                .isEqualTo(AsyncApiMain.text());
    }

    @Test
    void documentIsValidByTheOfficialSchema() throws IOException {
        assertThat(violations(text)).isEmpty();
    }

    @Test
    void everyMechanismThatTheServerNamesIsASecurityScheme() {
        assertThat(at("components", "securitySchemes").keySet()).containsExactly("scram", "oauthbearer", "tls");
        assertThat(String.valueOf(at("servers", "bus").get("description"))).contains("TLS", "SCRAM", "OAUTHBEARER");
        assertThat(((List<?>) Objects.requireNonNull(at("servers", "bus").get("security")))
                        .stream().map(reference -> String.valueOf(((Map<?, ?>) reference).get("$ref"))))
                .containsExactly(
                        "#/components/securitySchemes/scram",
                        "#/components/securitySchemes/oauthbearer",
                        "#/components/securitySchemes/tls");
    }

    @Test
    void officialSchemaRefusesAnUnknownField() throws IOException {
        assertThat(violations(text.replaceFirst("action: send", "action: write")))
                .isNotEmpty();
        assertThat(violations(text.replaceFirst("address: gpu.inventory", "adress: gpu.inventory")))
                .isNotEmpty();
    }

    private static Set<ValidationMessage> violations(String yaml) throws IOException {
        try (var schema = Objects.requireNonNull(AsyncApiTest.class.getResourceAsStream(OFFICIAL_SCHEMA))) {
            return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V7)
                    .getSchema(schema)
                    .validate(new YAMLMapper().readTree(yaml));
        }
    }

    @Test
    void everyTopicIsAChannelWithItsMessages() {
        assertThat(at("channels").keySet())
                .containsExactlyElementsOf(
                        Arrays.stream(Topic.values()).map(Topic::suffix).toList());
        for (Topic topic : Topic.values()) {
            Map<String, Object> channel = at("channels", topic.suffix());
            assertThat(channel.get("address")).isEqualTo("gpu." + topic.suffix());
            assertThat(at("channels", topic.suffix(), "messages").keySet())
                    .containsExactlyElementsOf(
                            topic == Topic.DEADLETTER
                                    ? List.of(AsyncApiMain.DEAD_LETTER)
                                    : AsyncApiMain.typesOn(topic).stream()
                                            .map(AsyncApiMain::shortName)
                                            .toList());
            assertThat(at("channels", topic.suffix(), "bindings", "kafka").get("partitions"))
                    .isEqualTo(topic.partitions());
        }
    }

    @Test
    void everyTypeIsAMessageWithNameHeadersAndPayload() {
        assertThat(at("components", "messages")).hasSize(EventType.values().length + 1);
        for (EventType type : EventType.values()) {
            Map<String, Object> message = at("components", "messages", AsyncApiMain.shortName(type));
            assertThat(message)
                    .containsEntry("name", type.ceType())
                    .containsEntry("contentType", type.encoding().contentType())
                    .containsKey("headers");
            if (type.encoding() == PayloadEncoding.PROTOBUF) {
                assertThat(message).doesNotContainKey("payload").containsKey("summary");
                continue;
            }
            assertThat(at("components", "messages", AsyncApiMain.shortName(type), "payload"))
                    .containsEntry(
                            "$ref",
                            "#/components/schemas/"
                                    + type.prototype().getDescriptorForType().getFullName());
        }
    }

    @Test
    void everyExampleHasTheFieldsOfItsSchemasAndNoOthers() throws IOException {
        var components = (ObjectNode) new YAMLMapper().readTree(text).path("components");
        components.path("schemas").forEach(schema -> ((ObjectNode) schema).put("additionalProperties", false));
        for (EventType type : EventType.values()) {
            JsonNode message = components.path("messages").path(AsyncApiMain.shortName(type));
            if (type.encoding() == PayloadEncoding.JSON) {
                assertThat(message.path("examples")).as(type.ceType()).isNotEmpty();
            }
            for (JsonNode example : message.path("examples")) {
                for (String part : List.of("headers", "payload")) {
                    assertThat(violations(components, message.path(part), example.path(part)))
                            .as(part + " of " + type.ceType())
                            .isEmpty();
                }
            }
        }
    }

    private static Set<ValidationMessage> violations(ObjectNode components, JsonNode reference, JsonNode value) {
        ObjectNode schema =
                components.objectNode().put("$ref", reference.path("$ref").asText());
        schema.set("components", components);
        return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V7)
                .getSchema(schema)
                .validate(value);
    }

    @Test
    void everyOperationSendsMessagesOfItsChannelOnly() {
        assertThat(at("operations")).isNotEmpty().allSatisfy((_, it) -> {
            var operation = (Map<String, Object>) it;
            assertThat(operation.get("action")).isIn("send", "receive");
            String channel = (String) Objects.requireNonNull(
                    ((Map<String, Object>) Objects.requireNonNull(operation.get("channel"))).get("$ref"));
            // A subscriber receives every message of its channel, and need not list them.
            assertThat((List<Map<String, String>>) operation.getOrDefault("messages", List.of()))
                    .hasSizeGreaterThanOrEqualTo("send".equals(operation.get("action")) ? 1 : 0)
                    .allSatisfy(message -> assertThat(message.get("$ref")).startsWith(channel + "/messages/"));
        });
    }

    @Test
    void everyHeaderIsARowOfTheTopicsDocument() throws IOException {
        String topics = Files.readString(Path.of("TOPICS.md"));
        var required = (List<String>)
                Objects.requireNonNull(at("components", "schemas", "CloudEvent").get("required"));
        assertThat(at("components", "schemas", "CloudEvent", "properties").keySet())
                .contains("content-type")
                .allSatisfy(header -> {
                    var examples = (List<String>)
                            Objects.requireNonNull(at("components", "schemas", "CloudEvent", "properties", header)
                                    .get("examples"));
                    assertThat(topics.lines())
                            .anyMatch(row -> row.startsWith("| `" + header + "` | "
                                            + (required.contains(header) ? "yes" : "no") + " | ")
                                    && row.endsWith(" | `" + examples.getFirst() + "` |"));
                });
    }

    @Test
    void everyHeaderOfADeadLetterIsNamedInTheTopicsDocument() throws IOException {
        String topics = Files.readString(Path.of("TOPICS.md"));
        assertThat(at("components", "schemas", "DeadLetter", "properties").keySet())
                .allSatisfy(header -> assertThat(topics).contains("`" + header + "`"));
    }

    @Test
    void everyReferenceResolves() {
        assertThat(text.lines()
                        .map(String::strip)
                        .map(line -> line.replaceFirst("^- ", ""))
                        .filter(line -> line.startsWith("$ref: "))
                        .map(line -> line.substring("$ref: ".length()).replace("'", "")))
                .isNotEmpty()
                .allSatisfy(reference -> assertThat(at(reference.substring(2).split("/")))
                        .as(reference)
                        .isNotEmpty());
    }

    private static Map<String, Object> at(String... path) {
        Map<String, Object> here = document;
        for (String step : path) {
            assertThat(here).containsKey(step);
            here = (Map<String, Object>) Objects.requireNonNull(here.get(step));
        }
        return here;
    }
}
