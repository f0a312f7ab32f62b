package io.gpufleet.wire.contract;

import static io.gpufleet.wire.contract.JsonSchemas.map;
import static io.gpufleet.wire.contract.JsonSchemas.with;

import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullMarked;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.Yaml;

/**
 * Writes {@code asyncapi.yaml} from the catalogue and the messages; {@link AsyncApiTest} refuses a file that differs.
 */
@NullMarked
public final class AsyncApiMain {
    private static final List<String> REQUIRED_HEADERS = List.of(
            "ce_specversion",
            "ce_id",
            "ce_source",
            "ce_type",
            "ce_time",
            "ce_recordedtime",
            "ce_agems",
            "ce_partitionkey",
            "ce_sequence",
            "ce_dataschema");
    private static final List<String> OPTIONAL_HEADERS = List.of("ce_subject", "ce_traceparent");
    private static final List<String> BINDING_SETTINGS =
            List.of("cleanup.policy", "retention.ms", "delete.retention.ms", "max.message.bytes");

    private final JsonSchemas schemas = new JsonSchemas();

    private AsyncApiMain() {}

    /** Writes the file into the working directory, which is {@code proto/}. */
    public static void main(String[] arguments) throws IOException {
        Files.writeString(Path.of("asyncapi.yaml"), text());
    }

    static String text() {
        var options = new DumperOptions();
        options.setDefaultFlowStyle(DumperOptions.FlowStyle.BLOCK);
        options.setWidth(110);
        options.setIndicatorIndent(2);
        options.setIndentWithIndicator(true);
        // No aliases: few AsyncAPI tools read them.
        options.setDereferenceAliases(true);
        return "# Written by io.gpufleet.wire.contract.AsyncApiMain from the catalogue in code; do not edit.\n"
                + new Yaml(options).dump(new AsyncApiMain().document());
    }

    private Map<String, Object> document() {
        Map<String, Object> document = map("asyncapi", "3.1.0");
        document.put("info", info());
        document.put("defaultContentType", "application/json");
        document.put("servers", map("bus", server()));
        Map<String, Object> channels = new LinkedHashMap<>();
        Map<String, Object> operations = new LinkedHashMap<>();
        for (Topic topic : Topic.values()) {
            channels.put(topic.suffix(), channel(topic));
            addOperations(topic, operations);
        }
        document.put("channels", channels);
        document.put("operations", operations);
        document.put("components", components());
        return document;
    }

    private static Map<String, Object> info() {
        Map<String, Object> info = map("title", "gpufleet bus");
        info.put("version", "1");
        info.put(
                "description",
                "CloudEvents 1.0 in Kafka's binary mode, payload proto3 JSON. Addresses have the default prefix"
                        + " 'gpu.'. Order, delivery and what happens on failure: TOPICS.md.");
        info.put("license", map("name", "Apache-2.0"));
        return info;
    }

    private static Map<String, Object> server() {
        Map<String, Object> server = map("host", "{bootstrap}");
        server.put("protocol", "kafka");
        Map<String, Object> bootstrap = map("description", "GPUFLEET_KAFKA, host:port");
        bootstrap.put("default", "localhost:9092");
        server.put("variables", map("bootstrap", bootstrap));
        return server;
    }

    static List<EventType> typesOn(Topic topic) {
        return Arrays.stream(EventType.values())
                .filter(type -> type.topics().contains(topic))
                .toList();
    }

    /** Returns the type without {@code io.gpufleet.}. */
    static String shortName(EventType type) {
        return type.ceType().substring("io.gpufleet.".length());
    }

    private static Map<String, Object> channel(Topic topic) {
        Map<String, Object> channel = map("address", Topics.DEFAULT_PREFIX + topic.suffix());
        Map<String, Object> messages = new LinkedHashMap<>();
        typesOn(topic)
                .forEach(
                        type -> messages.put(shortName(type), map("$ref", "#/components/messages/" + shortName(type))));
        channel.put("messages", messages);
        Map<String, Object> configuration = new LinkedHashMap<>();
        topic.brokerSettings().forEach((name, value) -> {
            if (name.equals("cleanup.policy")) {
                configuration.put(name, List.of(value));
            } else if (BINDING_SETTINGS.contains(name)) {
                configuration.put(name, Long.valueOf(value));
            }
        });
        Map<String, Object> kafka = map("partitions", topic.partitions());
        kafka.put("topicConfiguration", configuration);
        kafka.put("bindingVersion", "0.5.0");
        channel.put("bindings", map("kafka", kafka));
        return channel;
    }

    private static void addOperations(Topic topic, Map<String, Object> operations) {
        Map<EventType.Writer, List<Object>> byWriter = new LinkedHashMap<>();
        for (EventType type : typesOn(topic)) {
            byWriter.computeIfAbsent(type.writer(), _ -> new ArrayList<>())
                    .add(map("$ref", "#/channels/" + topic.suffix() + "/messages/" + shortName(type)));
        }
        byWriter.forEach((writer, messages) -> {
            Map<String, Object> operation = map("action", "send");
            operation.put("channel", map("$ref", "#/channels/" + topic.suffix()));
            operation.put("messages", messages);
            operations.put(program(writer) + "-writes-" + topic.suffix(), operation);
        });
    }

    static String program(EventType.Writer writer) {
        return switch (writer) {
            case DAEMON -> "node-daemon";
            case ANY_SERVICE -> "any-service";
            case HEALTH_SERVICE -> "health-service";
            case INVENTORY_SERVICE -> "inventory-service";
            case ALLOCATION_SERVICE -> "allocation-service";
        };
    }

    private Map<String, Object> components() {
        Map<String, Object> messages = new LinkedHashMap<>();
        for (EventType type : EventType.values()) {
            Map<String, Object> message = map("name", type.ceType());
            message.put("contentType", "application/json");
            message.put("headers", map("$ref", "#/components/schemas/CloudEvent"));
            message.put("payload", schemas.reference(type.prototype().getDescriptorForType()));
            message.put("bindings", map("kafka", map("key", map("type", "string"))));
            messages.put(shortName(type), message);
        }
        Map<String, Object> all = map("CloudEvent", cloudEvent());
        all.putAll(schemas.all());
        return with(map("messages", messages), "schemas", all);
    }

    private static Map<String, Object> cloudEvent() {
        Map<String, Object> properties = map("content-type", map("const", "application/json"));
        REQUIRED_HEADERS.forEach(header -> properties.put(header, map("type", "string")));
        OPTIONAL_HEADERS.forEach(header -> properties.put(header, map("type", "string")));
        Map<String, Object> schema = map("type", "object");
        schema.put("properties", properties);
        List<String> required = new ArrayList<>(List.of("content-type"));
        required.addAll(REQUIRED_HEADERS);
        schema.put("required", required);
        return schema;
    }
}
