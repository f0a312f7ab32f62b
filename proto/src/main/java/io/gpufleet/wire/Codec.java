package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Locale;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * CloudEvents 1.0 in Kafka's binary mode: attributes as headers, payload as proto3 JSON. One codec for every topic;
 * it refuses a type that may not stand on a topic, a record of another cluster, and a source that is not its key.
 */
public final class Codec {
    private static final JsonFormat.Printer PRINTER = JsonFormat.printer().omittingInsignificantWhitespace();
    private static final JsonFormat.Parser PARSER = JsonFormat.parser().ignoringUnknownFields();
    private static final String JSON = "application/json";
    private static final int MAX_KEY_BYTES = 512;

    private final String cluster;
    private final Topics topics;

    /** A codec for one fleet. */
    public Codec(String cluster, Topics topics) {
        this.cluster = cluster;
        this.topics = topics;
    }

    /** The topics that this codec writes and reads. */
    public Topics topics() {
        return topics;
    }

    /** The cluster whose events this codec accepts. */
    public String cluster() {
        return cluster;
    }

    /** The payload as proto3 JSON; as everywhere in proto3, a field at its default is left out. */
    public static byte[] toJson(Message payload) {
        try {
            return PRINTER.print(payload).getBytes(UTF_8);
        } catch (InvalidProtocolBufferException impossible) {
            throw new IllegalStateException("a payload without Any can always be printed", impossible);
        }
    }

    /** Reads proto3 JSON of a known type; unknown fields and unknown enum values are no error. */
    public static Message fromJson(byte[] json, Message prototype) throws InvalidProtocolBufferException {
        Message.Builder builder = prototype.newBuilderForType();
        PARSER.merge(new String(json, UTF_8), builder);
        return builder.build();
    }

    /** The record of an event; refuses what the catalogue does not allow with {@link IllegalArgumentException}. */
    public ProducerRecord<String, byte[]> encode(Envelope envelope, Message payload) {
        return encode(envelope, toJson(payload));
    }

    /** The record of an event whose payload is JSON already, as an outbox keeps it. */
    public ProducerRecord<String, byte[]> encode(Envelope envelope, byte[] json) {
        Topic topic = envelope.id().topic();
        if (!envelope.type().topics().contains(topic)) {
            throw new IllegalArgumentException(
                    envelope.type().ceType() + " may not stand on topic " + topics.name(topic));
        }
        var rec = new ProducerRecord<String, byte[]>(topics.name(topic), envelope.key(), json);
        Headers headers = rec.headers();
        put(headers, "content-type", JSON);
        put(headers, "ce_specversion", "1.0");
        put(headers, "ce_id", envelope.id().toString());
        put(headers, "ce_source", envelope.source().toString());
        put(headers, "ce_type", envelope.type().ceType());
        put(headers, "ce_time", envelope.time().toString());
        put(headers, "ce_recordedtime", envelope.recordedTime().toString());
        put(headers, "ce_agems", Long.toString(envelope.ageMillis()));
        put(headers, "ce_partitionkey", envelope.key());
        put(
                headers,
                "ce_sequence",
                String.format(Locale.ROOT, "%020d", envelope.id().sequence()));
        put(headers, "ce_dataschema", envelope.type().dataSchema());
        if (!envelope.subject().isEmpty()) {
            put(headers, "ce_subject", envelope.subject());
        }
        if (!envelope.traceparent().isEmpty()) {
            put(headers, "ce_traceparent", envelope.traceparent());
        }
        return rec;
    }

    /** The record that gives up a key of a compacted topic. */
    public ProducerRecord<String, byte[]> tombstone(Topic topic, String key) {
        if (!topic.compacted()) {
            throw new IllegalArgumentException("topic " + topics.name(topic) + " is not compacted: no tombstones");
        }
        return new ProducerRecord<>(topics.name(topic), key, null);
    }

    /** What a record is; never throws. */
    public Decoded decode(ConsumerRecord<String, byte[]> rec) {
        try {
            Topic topic = topics.byName(rec.topic())
                    .orElseThrow(() -> new IllegalArgumentException("topic is not in the catalogue"));
            Instant appendedAt = Instant.ofEpochMilli(rec.timestamp());
            String key = requireKey(rec.key());
            if (rec.value() == null) {
                if (!topic.compacted()) {
                    throw new IllegalArgumentException("no value on a topic that is not compacted");
                }
                return new Decoded.Tombstone(key, appendedAt);
            }
            Envelope envelope = envelope(rec.headers(), topic, key);
            return new Decoded.Event(
                    envelope, fromJson(rec.value(), envelope.type().prototype()), appendedAt);
        } catch (IllegalArgumentException | DateTimeException | InvalidProtocolBufferException unreadable) {
            return new Decoded.Poison(String.valueOf(unreadable.getMessage()));
        }
    }

    private Envelope envelope(Headers headers, Topic topic, String key) {
        require(headers, "ce_specversion", "1.0");
        require(headers, "content-type", JSON);
        String typeName = get(headers, "ce_type");
        EventType type = EventType.byName(typeName)
                .orElseThrow(() -> new IllegalArgumentException("ce_type '" + typeName + "' is not in the catalogue"));
        EventId id = EventId.parse(get(headers, "ce_id"));
        Source source = Source.parse(get(headers, "ce_source"));
        if (id.topic() != topic || !type.topics().contains(topic)) {
            throw new IllegalArgumentException(typeName + " with id " + id + " may not stand on this topic");
        }
        checkWriter(source, type, id, key);
        return new Envelope(
                id,
                source,
                type,
                optional(headers, "ce_subject"),
                key,
                Instant.parse(get(headers, "ce_time")),
                Instant.parse(get(headers, "ce_recordedtime")),
                age(headers),
                optional(headers, "ce_traceparent"));
    }

    private void checkWriter(Source source, EventType type, EventId id, String key) {
        if (!source.cluster().equals(cluster)) {
            throw new IllegalArgumentException("record of cluster '" + source.cluster() + "', this is '" + cluster
                    + "': two clusters on one Kafka need different GPUFLEET_TOPIC_PREFIX");
        }
        if (!id.writer().equals(source.name())) {
            throw new IllegalArgumentException("ce_id names writer '" + id.writer() + "', ce_source " + source);
        }
        switch (source) {
            case Source.Node node -> {
                if (type.writer() != EventType.Writer.DAEMON) {
                    throw new IllegalArgumentException(type.ceType() + " may not be written by a node");
                }
                if (!node.name().equals(key)) {
                    throw new IllegalArgumentException("key '" + key + "' is not the node of " + source);
                }
            }
            case Source.Service service -> {
                if (type.writer() == EventType.Writer.DAEMON) {
                    throw new IllegalArgumentException(type.ceType() + " may not be written by " + service);
                }
            }
        }
    }

    private static String requireKey(String key) {
        if (key == null || key.isEmpty() || key.length() > MAX_KEY_BYTES) {
            throw new IllegalArgumentException("key is missing, empty or longer than " + MAX_KEY_BYTES);
        }
        return key;
    }

    private static long age(Headers headers) {
        long millis = Long.parseLong(get(headers, "ce_agems"));
        if (millis < 0) {
            throw new IllegalArgumentException("ce_agems is negative: " + millis);
        }
        return millis;
    }

    private static void require(Headers headers, String name, String value) {
        if (!get(headers, name).equals(value)) {
            throw new IllegalArgumentException("header " + name + " is not '" + value + "'");
        }
    }

    private static String get(Headers headers, String name) {
        String value = optional(headers, name);
        if (value.isEmpty()) {
            throw new IllegalArgumentException("header " + name + " is missing");
        }
        return value;
    }

    private static String optional(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        return header == null || header.value() == null ? "" : new String(header.value(), UTF_8);
    }

    private static void put(Headers headers, String name, String value) {
        headers.add(name, value.getBytes(UTF_8));
    }
}
