package io.gpufleet.wire.contract;

import static io.gpufleet.wire.contract.JsonSchemas.map;
import static io.gpufleet.wire.contract.JsonSchemas.with;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.wire.EventType;
import io.gpufleet.wire.PayloadEncoding;
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
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.NullMarked;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.Yaml;

/**
 * Writes {@code asyncapi.yaml} from the catalogue and the messages; {@link AsyncApiTest} refuses a file that differs.
 */
@NullMarked
public final class AsyncApiMain {
    /** A header of every event: name, whether it is required, meaning, example. */
    private record Header(String name, boolean required, String meaning, String example) {}

    private static final List<Header> HEADERS = List.of(
            new Header("content-type", true, "encoding of the value", PayloadEncoding.JSON.contentType()),
            new Header("ce_specversion", true, "version of CloudEvents", "1.0"),
            new Header("ce_id", true, "<writer>/<epoch>/<topic>/<sequence>", "gpu-node-7/1795305600000/health/12"),
            new Header(
                    "ce_source",
                    true,
                    "/clusters/<cluster>/nodes/<node> or /clusters/<cluster>/services/<instance>",
                    "/clusters/prod/nodes/gpu-node-7"),
            new Header("ce_type", true, "type and its version", "io.gpufleet.fault.observed.v1"),
            new Header(
                    "ce_time", true, "when it happened, writer's clock, RFC 3339 in UTC", "2026-11-22T10:15:30.123Z"),
            new Header("ce_recordedtime", true, "when it was sent, writer's clock", "2026-11-22T10:15:30.125Z"),
            new Header("ce_agems", true, "milliseconds from observation to sending, monotonic clock", "2"),
            new Header("ce_partitionkey", true, "the record key", "gpu-node-7"),
            new Header(
                    "ce_sequence", true, "the sequence of ce_id with 20 digits, sorts as text", "00000000000000000012"),
            new Header(
                    "ce_dataschema",
                    true,
                    "gpufleet:<full name of the protobuf message>",
                    "gpufleet:io.gpufleet.health.v1.FaultObserved"),
            new Header("ce_subject", false, "device UUID, where the event is about one", "GPU-4d3c2b1a"),
            new Header(
                    "ce_traceparent",
                    false,
                    "W3C trace context of the fact that caused it",
                    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
    private static final List<Header> DEAD_LETTER_HEADERS = List.of(
            new Header("dlq.reason", true, "why it could not be read, at most 1 KiB", "header ce_time is missing"),
            new Header("dlq.topic", true, "full name of the topic it was on", "gpu.health"),
            new Header("dlq.partition", true, "its partition", "7"),
            new Header("dlq.offset", true, "its offset", "1234"),
            new Header("dlq.timestamp", true, "its append time, Unix milliseconds", "1795305600000"),
            new Header("dlq.consumer", true, "the service that could not read it", "health-service"),
            new Header("dlq.truncated", false, "size in bytes before it was cut to fit", "3145803"),
            new Header(
                    "dlq.replayed",
                    false,
                    "on the note that a dead letter was applied after a replay: the time",
                    "2026-11-22T10:15:30Z"));
    private static final List<String> BINDING_SETTINGS =
            List.of("cleanup.policy", "retention.ms", "delete.retention.ms", "max.message.bytes");

    /** Name of the message on the topic of dead letters: any record, with headers of its own. */
    static final String DEAD_LETTER = "deadletter";

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
                "CloudEvents 1.0 in Kafka's binary mode, payload proto3 JSON, but for the states of two private changelogs. Addresses have the default prefix"
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
        server.put(
                "description",
                "Whatever GPUFLEET_KAFKA_CONFIG says: plain, TLS, SASL SCRAM or OAUTHBEARER; rights: TOPICS.md.");
        server.put(
                "security",
                List.of(
                        map("$ref", "#/components/securitySchemes/scram"),
                        map("$ref", "#/components/securitySchemes/oauthbearer"),
                        map("$ref", "#/components/securitySchemes/tls")));
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
        if (topic == Topic.DEADLETTER) {
            messages.put(DEAD_LETTER, map("$ref", "#/components/messages/" + DEAD_LETTER));
        }
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
        Map<String, Object> reading = map("action", "receive");
        reading.put("channel", map("$ref", "#/channels/" + topic.suffix()));
        operations.put("subscriber-reads-" + topic.suffix(), reading);
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
            message.put("contentType", type.encoding().contentType());
            message.put("headers", map("$ref", "#/components/schemas/CloudEvent"));
            if (type.encoding() == PayloadEncoding.JSON) {
                message.put("payload", schemas.reference(type.prototype().getDescriptorForType()));
                message.put("examples", List.of(example(type)));
            } else {
                message.put(
                        "summary",
                        "Private to the service that writes it: binary protobuf, message "
                                + type.prototype().getDescriptorForType().getFullName() + ".");
            }
            message.put("bindings", map("kafka", map("key", map("type", "string"))));
            messages.put(shortName(type), message);
        }
        Map<String, Object> deadLetter = map("name", DEAD_LETTER);
        deadLetter.put(
                "summary", "A record that could not be read: key, value and headers as found, and dlq.* headers.");
        deadLetter.put("headers", map("$ref", "#/components/schemas/DeadLetter"));
        messages.put(DEAD_LETTER, deadLetter);
        Map<String, Object> all = map("CloudEvent", headers(HEADERS));
        all.put("DeadLetter", headers(DEAD_LETTER_HEADERS));
        all.putAll(schemas.all());
        Map<String, Object> security = map("scram", map("type", "scramSha512"));
        security.put("oauthbearer", oauthbearer());
        security.put("tls", map("type", "X509"));
        return with(with(map("messages", messages), "schemas", all), "securitySchemes", security);
    }

    /** AsyncAPI has no word for SASL OAUTHBEARER: a token of an issuer that each site has. */
    private static Map<String, Object> oauthbearer() {
        Map<String, Object> issuer = map("tokenUrl", "https://issuer.example/token");
        issuer.put("availableScopes", Map.of());
        Map<String, Object> scheme = map("type", "oauth2");
        scheme.put("description", "SASL OAUTHBEARER; the issuer is that of the site");
        scheme.put("flows", map("clientCredentials", issuer));
        return scheme;
    }

    /** The recorded event of the type. */
    private static Map<String, Object> example(EventType type) {
        ProducerRecord<String, byte[]> recorded = GoldenRecords.encoded(type);
        Map<String, Object> headers = new LinkedHashMap<>();
        recorded.headers().forEach(header -> headers.put(header.key(), new String(header.value(), UTF_8)));
        return with(map("headers", headers), "payload", new Yaml().load(new String(recorded.value(), UTF_8)));
    }

    private static Map<String, Object> headers(List<Header> headers) {
        Map<String, Object> properties = new LinkedHashMap<>();
        headers.forEach(header -> {
            Map<String, Object> schema = map("type", "string");
            schema.put("description", header.meaning());
            schema.put("examples", List.of(header.example()));
            if (header.name().equals("content-type")) {
                schema.put(
                        "enum",
                        Arrays.stream(PayloadEncoding.values())
                                .map(PayloadEncoding::contentType)
                                .toList());
            }
            properties.put(header.name(), schema);
        });
        Map<String, Object> schema = map("type", "object");
        schema.put("properties", properties);
        schema.put(
                "required",
                headers.stream().filter(Header::required).map(Header::name).toList());
        return schema;
    }
}
