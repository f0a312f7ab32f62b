package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.gpufleet.wire.EventHeaders.Name;
import io.gpufleet.wire.json.UtcTime;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes events as CloudEvents 1.0 in Kafka's binary mode: attributes are headers, the value is the
 * payload as proto3 JSON, or as binary protobuf where only the service that writes it reads it ({@link
 * PayloadEncoding}). One codec for every topic. It refuses a type that is not allowed on its topic, a record of another
 * cluster, a type that its writer may not write, and a node's event under the key of another node. An event of a type
 * that is not in the catalogue is no error: a later release may have more.
 *
 * <p>Headers, all UTF-8 text, in the order in which they are written:
 *
 * <pre>{@code
 * header           value                                                   required
 * content-type     application/json, application/protobuf  PayloadEncoding yes
 * ce_specversion   1.0                                                     yes
 * ce_id            <writer>/<epoch>/<topic>/<sequence>            EventId  yes
 * ce_source        /clusters/<cluster>/nodes/<node>           EventSource  yes
 *                  /clusters/<cluster>/services/<instance>
 * ce_type          io.gpufleet.<subject>.<verb>.v<n>            EventType  yes
 * ce_time          ISO 8601 UTC: event happened, writer's clock            yes
 * ce_recordedtime  ISO 8601 UTC: event sent, writer's clock                yes
 * ce_agems         decimal: ms from observation to sending,                yes
 *                  by the writer's monotonic clock
 * ce_partitionkey  the record key                                          written, not read
 * ce_sequence      sequence of ce_id, 20 digits, for text order            written, not read
 * ce_dataschema    gpufleet:<full name of the protobuf message>            written, not read
 * ce_subject       device UUID                                             no
 * ce_traceparent   W3C trace context                                       no
 * }</pre>
 *
 * <p>A tombstone, on compacted topics only, has a key, no value and no headers.
 */
public final class Codec {
    private static final int MAX_KEY_BYTES = 512;

    private static final Pattern CE_TYPE = Pattern.compile("io\\.gpufleet\\.[a-z0-9-]+\\.[a-z0-9-]+\\.v[1-9][0-9]*");

    private static final byte[] SPEC_VERSION = "1.0".getBytes(UTF_8);
    private static final String ZEROS = "0".repeat(20);

    private final String cluster;
    private final Topics topics;
    private final Map<String, Topic> topicsByName;
    private final Function<String, Optional<EventType>> types;
    /** A program writes as one source. */
    private volatile EncodedSource newestSource = new EncodedSource(new EventSource.Node("", ""), new byte[0]);

    /** A source and its header. */
    private record EncodedSource(EventSource source, byte[] header) {}

    /** Creates a codec for one fleet. */
    public Codec(String cluster, Topics topics) {
        this(cluster, topics, EventType::byName);
    }

    /** Creates a codec that reads with the types of another release, by their CloudEvents names. */
    public Codec(String cluster, Topics topics, Function<String, Optional<EventType>> types) {
        this.cluster = cluster;
        this.topics = topics;
        this.topicsByName =
                Arrays.stream(Topic.values()).collect(Collectors.toUnmodifiableMap(topics::name, Function.identity()));
        this.types = types;
    }

    /** Returns the topics that this codec writes and reads. */
    public Topics topics() {
        return topics;
    }

    /** Returns the cluster whose events this codec accepts. */
    public String cluster() {
        return cluster;
    }

    /** Encodes a payload as proto3 JSON. Fields with their default value are omitted, as always in proto3. */
    public static byte[] toJson(Message payload) {
        return PayloadEncoding.JSON.encode(payload);
    }

    /** Parses proto3 JSON of a known type. Unknown fields and unknown enum values are ignored. */
    public static Message fromJson(byte[] json, Message prototype) throws InvalidProtocolBufferException {
        return PayloadEncoding.JSON.decode(json, prototype, false);
    }

    /** Encodes a payload as the values of its type are written. */
    public static byte[] toValue(EventType type, Message payload) {
        return type.encoding().encode(payload);
    }

    /**
     * Encodes an event; throws {@link IllegalArgumentException} where the catalogue does not allow the type on the
     * topic, or not to the writer.
     */
    public ProducerRecord<String, byte[]> encode(Envelope envelope, Message payload) {
        return encode(envelope, toValue(envelope.type(), payload));
    }

    /** Encodes an event whose payload is encoded already, as stored in an outbox. */
    public ProducerRecord<String, byte[]> encode(Envelope envelope, byte[] value) {
        Topic topic = envelope.id().topic();
        if (!envelope.type().topics().contains(topic)) {
            throw new IllegalArgumentException(
                    envelope.type().ceType() + " is not allowed on topic " + topics.name(topic));
        }
        WriterAuthorization.check(envelope.source(), envelope.type(), topic);
        var rec = new ProducerRecord<String, byte[]>(topics.name(topic), envelope.key(), value);
        Headers headers = rec.headers();
        EventType type = envelope.type();
        put(headers, Name.CONTENT_TYPE, type.encoding().header());
        put(headers, Name.SPEC_VERSION, SPEC_VERSION);
        put(headers, Name.ID, envelope.id().toString());
        put(headers, Name.SOURCE, header(envelope.source()));
        put(headers, Name.TYPE, type.nameHeader());
        put(headers, Name.TIME, UtcTime.print(envelope.time()));
        put(headers, Name.RECORDED_TIME, UtcTime.print(envelope.recordedTime()));
        put(headers, Name.AGE_MILLIS, Long.toString(envelope.ageMillis()));
        put(headers, Name.PARTITION_KEY, envelope.key());
        put(headers, Name.SEQUENCE, padded(envelope.id().sequence()));
        put(headers, Name.DATA_SCHEMA, type.schemaHeader());
        if (!envelope.subject().isEmpty()) {
            put(headers, Name.SUBJECT, envelope.subject());
        }
        if (!envelope.traceparent().isEmpty()) {
            put(headers, Name.TRACE_PARENT, envelope.traceparent());
        }
        return rec;
    }

    private byte[] header(EventSource source) {
        EncodedSource newest = newestSource;
        if (newest.source() != source) {
            newest = new EncodedSource(source, source.toString().getBytes(UTF_8));
            newestSource = newest;
        }
        return newest.header();
    }

    private static String padded(long sequence) {
        String digits = Long.toString(sequence);
        return ZEROS.substring(digits.length()) + digits;
    }

    /** Creates the record that deletes a key of a compacted topic. */
    public ProducerRecord<String, byte[]> tombstone(Topic topic, String key) {
        if (!topic.compacted()) {
            throw new IllegalArgumentException("topic " + topics.name(topic) + " is not compacted: no tombstones");
        }
        return new ProducerRecord<>(topics.name(topic), key, null);
    }

    /** Decodes a record; never throws. Unknown fields and enum values of the payload are no error. */
    public DecodedRecord decode(ConsumerRecord<String, byte[]> rec) {
        return decode(rec, false);
    }

    /**
     * Decodes a record of the own changelog; never throws. A field or enum value that this program does not know is
     * poison: a state that is read in part would be written back in part.
     */
    public DecodedRecord decodeState(ConsumerRecord<String, byte[]> rec) {
        return decode(rec, true);
    }

    private DecodedRecord decode(ConsumerRecord<String, byte[]> rec, boolean strict) {
        try {
            Topic topic = topicsByName.get(rec.topic());
            if (topic == null) {
                throw new IllegalArgumentException("topic is not in the catalogue");
            }
            Instant appendedAt = Instant.ofEpochMilli(rec.timestamp());
            String key = requireKey(rec.key());
            if (rec.value() == null) {
                if (!topic.compacted()) {
                    throw new IllegalArgumentException("no value on a topic that is not compacted");
                }
                return new DecodedRecord.Tombstone(key, appendedAt);
            }
            return event(rec, new Writing(topic, key, appendedAt), strict);
        } catch (IllegalArgumentException | DateTimeException | InvalidProtocolBufferException unreadable) {
            return new DecodedRecord.Poison(String.valueOf(unreadable.getMessage()));
        }
    }

    /** Where an event was found. */
    private record Writing(Topic topic, String key, Instant appendedAt) {}

    private DecodedRecord event(ConsumerRecord<String, byte[]> rec, Writing found, boolean strict)
            throws InvalidProtocolBufferException {
        EventHeaders headers = EventHeaders.of(rec.headers());
        if (!headers.has(Name.SPEC_VERSION, SPEC_VERSION)) {
            throw new IllegalArgumentException("header " + Name.SPEC_VERSION
                    + (headers.get(Name.SPEC_VERSION).isEmpty() ? " is missing" : " is not '1.0'"));
        }
        PayloadEncoding encoding = PayloadEncoding.of(headers);
        String typeName = headers.required(Name.TYPE);
        EventId id = EventId.parse(headers.required(Name.ID));
        EventSource source = EventSource.parse(headers.required(Name.SOURCE));
        if (id.topic() != found.topic()) {
            throw new IllegalArgumentException(notAllowed(typeName, id));
        }
        checkSource(source, id, found.key());
        EnvelopeBounds.writer(source.name());
        EventTime time = time(headers);
        EnvelopeBounds.check(id, time, found.appendedAt());
        Optional<EventType> known = types.apply(typeName);
        if (known.isEmpty()) {
            WriterAuthorization.check(source, typeName, found.topic());
            return unknown(rec, encoding, id, source, typeName);
        }
        EventType type = known.get();
        if (!type.topics().contains(found.topic())) {
            throw new IllegalArgumentException(notAllowed(typeName, id));
        }
        WriterAuthorization.check(source, type, found.topic());
        if (encoding == PayloadEncoding.PROTOBUF && type.encoding() != encoding) {
            throw new IllegalArgumentException(
                    "header content-type is not '" + type.encoding().contentType() + "'");
        }
        Message payload = encoding.decode(rec.value(), type.prototype(), strict);
        EnvelopeBounds.check(payload, rec.value().length);
        String trace = EnvelopeBounds.traceparent(headers.trace());
        return new DecodedRecord.Event(
                new Envelope(id, source, type, headers.get(Name.SUBJECT), found.key(), time, trace),
                payload,
                found.appendedAt());
    }

    private static String notAllowed(String type, EventId id) {
        return type + " with id " + id + " is not allowed on this topic";
    }

    /** Every payload of a daemon has its boot id in the field of that name, also in types that come later. */
    private static DecodedRecord unknown(
            ConsumerRecord<String, byte[]> rec,
            PayloadEncoding encoding,
            EventId id,
            EventSource source,
            String typeName)
            throws InvalidProtocolBufferException {
        if (!CE_TYPE.matcher(typeName).matches()) {
            throw new IllegalArgumentException("ce_type '" + typeName + "' is not io.gpufleet.<subject>.<verb>.v<n>");
        }
        // What a daemon writes is JSON.
        String boot = source instanceof EventSource.Node && encoding == PayloadEncoding.JSON
                ? EnvelopeBounds.bootId(((Struct) fromJson(rec.value(), Struct.getDefaultInstance()))
                        .getFieldsOrDefault("bootId", Value.getDefaultInstance())
                        .getStringValue())
                : "";
        return new DecodedRecord.UnknownType(id, source, rec.key(), typeName, boot);
    }

    private static EventTime time(EventHeaders headers) {
        return new EventTime(
                EventTime.parse(headers.required(Name.TIME)),
                EventTime.parse(headers.required(Name.RECORDED_TIME)),
                age(headers));
    }

    private void checkSource(EventSource source, EventId id, String key) {
        if (!source.cluster().equals(cluster)) {
            throw new IllegalArgumentException("record of cluster '" + source.cluster() + "', this is '" + cluster
                    + "': two clusters on one Kafka need different GPUFLEET_TOPIC_PREFIX");
        }
        if (!id.writer().equals(source.name())) {
            throw new IllegalArgumentException("ce_id names writer '" + id.writer() + "', ce_source " + source);
        }
        if (source instanceof EventSource.Node && !source.name().equals(key)) {
            throw new IllegalArgumentException("key '" + key + "' is not the node of " + source);
        }
    }

    /** The key of a record, of 1 to 512 characters; throws {@link IllegalArgumentException} for any other. */
    public static String requireKey(@Nullable String key) {
        if (key == null || key.isEmpty() || key.length() > MAX_KEY_BYTES) {
            throw new IllegalArgumentException("key is missing, empty or longer than " + MAX_KEY_BYTES);
        }
        return key;
    }

    private static long age(EventHeaders headers) {
        long millis = Long.parseLong(headers.required(Name.AGE_MILLIS));
        if (millis < 0) {
            throw new IllegalArgumentException("ce_agems is negative: " + millis);
        }
        return millis;
    }

    private static void put(Headers headers, Name name, String value) {
        put(headers, name, value.getBytes(UTF_8));
    }

    private static void put(Headers headers, Name name, byte[] value) {
        headers.add(name.toString(), value);
    }
}
