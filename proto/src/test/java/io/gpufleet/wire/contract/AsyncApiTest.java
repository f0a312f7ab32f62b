package io.gpufleet.wire.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.EventType;
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
 * {@code asyncapi.yaml} is valid AsyncAPI 3.1 and agrees with the catalogue. The official schema is not on Maven
 * Central, so this test contains its rules as far as the document uses them.
 */
@NullMarked
@SuppressWarnings("unchecked")
class AsyncApiTest {
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
    void rootHasTheFieldsThatAsyncApiRequires() {
        assertThat(document.get("asyncapi")).isEqualTo("3.1.0");
        assertThat(Set.of(
                        "asyncapi",
                        "id",
                        "info",
                        "servers",
                        "defaultContentType",
                        "channels",
                        "operations",
                        "components"))
                .containsAll(document.keySet());
        assertThat(at("info")).containsKeys("title", "version");
        assertThat(at("servers").values())
                .allSatisfy(server -> assertThat((Map<String, Object>) server).containsKeys("host", "protocol"));
    }

    @Test
    void everyTopicIsAChannelWithItsMessages() {
        assertThat(at("channels").keySet())
                .containsExactlyElementsOf(
                        Arrays.stream(Topic.values()).map(Topic::suffix).toList());
        for (Topic topic : Topic.values()) {
            Map<String, Object> channel = at("channels", topic.suffix());
            assertThat(Set.of("address", "messages", "title", "summary", "description", "servers", "bindings"))
                    .containsAll(channel.keySet());
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
            assertThat(message).containsEntry("name", type.ceType()).containsKeys("headers", "payload", "contentType");
            assertThat(at("components", "messages", AsyncApiMain.shortName(type), "payload"))
                    .containsEntry(
                            "$ref",
                            "#/components/schemas/"
                                    + type.prototype().getDescriptorForType().getFullName());
        }
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
                .filteredOn(header -> header.startsWith("ce_"))
                .allSatisfy(header -> assertThat(topics)
                        .contains("| `" + header + "` | " + (required.contains(header) ? "yes" : "no") + " | "));
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
