package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@NullMarked
class CodecTest {
    private static final Instant APPENDED = Instant.parse("2026-11-20T23:00:00Z");
    private final Codec codec = new Codec("c1", new Topics("gpu."));

    @Property(tries = 1500)
    void everyEventIsReadAsItWasWritten(@ForAll EventType type, @ForAll long seed) {
        var random = new java.util.Random(seed);
        var payload = new RandomMessages(random).ofType(type.prototype());
        for (Topic topic : type.topics()) {
            Envelope envelope = envelope(type, topic, "n1");

            DecodedRecord decoded = codec.decode(received(codec.encode(envelope, payload)));

            assertThat(decoded).isEqualTo(new DecodedRecord.Event(envelope, payload, APPENDED));
        }
    }

    @Test
    void headersAreThoseOfCloudEventsInBinaryMode() {
        var rec = codec.encode(
                envelope(EventType.FAULT_OBSERVED, Topic.HEALTH, "n1"), EventType.FAULT_OBSERVED.prototype());

        assertThat(rec.headers())
                .extracting(header -> header.key() + ": " + new String(header.value(), UTF_8))
                .containsExactly(
                        "content-type: application/json",
                        "ce_specversion: 1.0",
                        "ce_id: n1/1000/health/12",
                        "ce_source: /clusters/c1/nodes/n1",
                        "ce_type: io.gpufleet.fault.observed.v1",
                        "ce_time: 2026-11-20T22:00:00Z",
                        "ce_recordedtime: 2026-11-20T22:00:01Z",
                        "ce_agems: 1000",
                        "ce_partitionkey: n1",
                        "ce_sequence: 00000000000000000012",
                        "ce_dataschema: gpufleet:io.gpufleet.health.v1.FaultObserved",
                        "ce_subject: GPU-1",
                        "ce_traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ce_type         | com.example.fault.observed.v1 | is not io.gpufleet.<subject>.<verb>.v<n>
            ce_type         | io.gpufleet.node.announced.v1 | is not allowed on this topic
            ce_type         | io.gpufleet.verdict.reached.v1| is not allowed on this topic
            ce_source       | /clusters/c2/nodes/n1         | different GPUFLEET_TOPIC_PREFIX
            ce_source       | /clusters/c1/nodes/n2         | ce_id names writer 'n1'
            ce_source       | /clusters/c1/services/n1      | may not be written by
            ce_source       | n1                            | is not /clusters/
            ce_id           | n1/1000/inventory/12          | is not allowed on this topic
            ce_id           | n1/1000/health/0              | is not <writer>
            ce_id           | n1                            | is not <writer>
            ce_time         | yesterday                     | could not be parsed
            ce_agems        | -1                            | ce_agems is negative
            ce_agems        | soon                          | soon
            ce_specversion  | 2.0                           | is not '1.0'
            content-type    | text/plain                    | is not 'application/json'
            content-type    | application/protobuf          | is not 'application/json'
            """)
    void headerThatIsWrongIsPoison(String header, String value, String reason) {
        ProducerRecord<String, byte[]> rec = fault();
        rec.headers().remove(header).add(header, value.getBytes(UTF_8));

        assertThat(codec.decode(received(rec)))
                .isInstanceOfSatisfying(
                        DecodedRecord.Poison.class,
                        poison -> assertThat(poison.reason()).contains(reason));
    }

    @Test
    void typeOfALaterReleaseIsUnknownAndKeepsItsIdentity() {
        ProducerRecord<String, byte[]> rec = ofLaterRelease("{\"bootId\":\"b1\",\"faults\":[{\"mood\":[1,{}]}]}");

        assertThat(codec.decode(received(rec)))
                .isEqualTo(new DecodedRecord.UnknownType(
                        EventId.parse("n1/1000/health/12"),
                        new EventSource.Node("c1", "n1"),
                        "n1",
                        "io.gpufleet.fault.observed.v2",
                        "b1"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ce_source | /clusters/c2/nodes/n1 | different GPUFLEET_TOPIC_PREFIX
            ce_source | /clusters/c1/nodes/n2 | ce_id names writer 'n1'
            ce_id     | n1/1000/inventory/12  | is not allowed on this topic
            ce_time   | yesterday             | could not be parsed
            """)
    void typeOfALaterReleaseWithWrongHeaderIsPoison(String header, String value, String reason) {
        ProducerRecord<String, byte[]> rec = ofLaterRelease("{}");
        rec.headers().remove(header).add(header, value.getBytes(UTF_8));

        assertThat(codec.decode(received(rec)))
                .isInstanceOfSatisfying(
                        DecodedRecord.Poison.class,
                        poison -> assertThat(poison.reason()).contains(reason));
    }

    @Test
    void typeOfALaterReleaseThatIsNotJsonIsPoison() {
        assertThat(codec.decode(received(ofLaterRelease("{")))).isInstanceOf(DecodedRecord.Poison.class);
    }

    @ParameterizedTest
    @CsvSource({"ce_type", "ce_id", "ce_source", "ce_time", "ce_recordedtime", "ce_agems", "content-type"})
    void headerThatIsMissingIsPoison(String header) {
        ProducerRecord<String, byte[]> rec = fault();
        rec.headers().remove(header);

        assertThat(codec.decode(received(rec))).isEqualTo(new DecodedRecord.Poison("header " + header + " is missing"));
    }

    @Test
    void keyThatIsNotTheNodeOfTheSourceIsPoison() {
        ProducerRecord<String, byte[]> rec = fault();
        var stray = new ProducerRecord<>(rec.topic(), null, "n2", rec.value(), rec.headers());

        assertThat(codec.decode(received(stray)))
                .isEqualTo(new DecodedRecord.Poison("key 'n2' is not the node of /clusters/c1/nodes/n1"));
    }

    @Test
    void fieldsAndEnumValuesOfALaterVersionAreNoError() {
        ProducerRecord<String, byte[]> rec = fault();
        byte[] later = """
                {"bootId":"b1","fault":{"kind":"FAULT_KIND_MELTED","xid":79,"colour":"red"},"mood":[1,2]}""".getBytes(UTF_8);
        var newer = new ProducerRecord<>(rec.topic(), null, rec.key(), later, rec.headers());

        assertThat(codec.decode(received(newer))).isInstanceOfSatisfying(DecodedRecord.Event.class, event -> {
            var fault = ((FaultObserved) event.payload()).getFault();
            assertThat(fault.getXid()).isEqualTo(79);
            assertThat(fault.getKind()).isEqualTo(FaultKind.FAULT_KIND_UNSPECIFIED);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"bootId\":\"%s\"}", "{\"bootId\":\"%s\",\"later\":{}}"})
    void bootIdThatIsTooLongToBeKeptIsPoison(String json) {
        String payload = json.formatted("b".repeat(129));

        for (ProducerRecord<String, byte[]> rec : List.of(withValue(fault(), payload), ofLaterRelease(payload))) {
            assertThat(codec.decode(received(rec)))
                    .isEqualTo(new DecodedRecord.Poison("boot id has 129 characters, more than 128"));
        }
    }

    @Test
    void nameOfAWriterThatIsTooLongToBeKeptIsPoison() {
        String name = "n".repeat(254);

        assertThat(codec.decode(received(codec.encode(
                        envelope(EventType.FAULT_OBSERVED, Topic.HEALTH, name), FaultObserved.getDefaultInstance()))))
                .isEqualTo(new DecodedRecord.Poison("name of the writer has 254 characters, more than 253"));
    }

    /** None may end the thread that reads it, by time, memory or the depth of its stack. */
    @ParameterizedTest
    @ValueSource(strings = {"[", "{\"a\":", "{\"fault\":", "{\"bootId\":["})
    void payloadThatIsNestedWithoutEndIsPoison(String opening) {
        String payload = opening.repeat(100_000);

        assertThat(codec.decode(received(withValue(fault(), payload)))).isInstanceOf(DecodedRecord.Poison.class);
        assertThat(codec.decode(received(ofLaterRelease(payload)))).isInstanceOf(DecodedRecord.Poison.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e999999999", "-1e-999999999", "1e2147483648", "NaN", "\"1e999999999\"", "0x7f"})
    void numberThatIsNoXidIsPoison(String number) {
        String payload = "{\"fault\":{\"xid\":" + number + "}}";

        assertThat(codec.decode(received(withValue(fault(), payload)))).isInstanceOf(DecodedRecord.Poison.class);
    }

    @Test
    void payloadThatIsNotJsonIsPoison() {
        ProducerRecord<String, byte[]> rec = fault();
        var broken = new ProducerRecord<>(rec.topic(), null, rec.key(), "{".getBytes(UTF_8), rec.headers());

        assertThat(codec.decode(received(broken))).isInstanceOf(DecodedRecord.Poison.class);
    }

    @Test
    void tombstoneBelongsToCompactedTopicsOnly() {
        assertThat(codec.decode(received(codec.tombstone(Topic.VERDICTS, "n1"))))
                .isEqualTo(new DecodedRecord.Tombstone("n1", APPENDED));
        assertThatThrownBy(() -> codec.tombstone(Topic.HEALTH, "n1")).hasMessageContaining("not compacted");
        assertThat(codec.decode(received("gpu.health", "n1", null))).isInstanceOf(DecodedRecord.Poison.class);
    }

    @Test
    void typeIsNotWrittenToATopicThatDoesNotAllowIt() {
        assertThatThrownBy(() -> codec.encode(
                        envelope(EventType.FAULT_OBSERVED, Topic.INVENTORY, "n1"), FaultObserved.getDefaultInstance()))
                .hasMessage("io.gpufleet.fault.observed.v1 is not allowed on topic gpu.inventory");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            VERDICT_REACHED     | VERDICTS     | services/inventory-service-0     | only by the health-service
            VERDICT_REACHED     | VERDICTS     | services/x-health-servicex-0     | only by the health-service
            NODE_VIEWED         | NODES        | services/health-service-0        | only by the inventory-service
            USAGE_CLOSED        | USAGE        | services/replica                 | only by the allocation-service
            OFFSETS_COMMITTED   | HEALTH_STATE | services/allocation-service-0    | only by the health-service
            WRITER_STARTED      | NODES        | services/health-service-0        | only by the inventory-service
            VERDICT_REACHED     | VERDICTS     | nodes/n1                         | only by the health-service
            COMMAND_ISSUED      | SIGNALS      | nodes/n1                         | only by a service
            FAULT_OBSERVED      | HEALTH       | services/health-service-0        | only by the node-daemon
            """)
    void typeOfAnotherWriterIsNeitherWrittenNorRead(EventType type, Topic topic, String writer, String reason) {
        // Given
        EventSource source = EventSource.parse("/clusters/c1/" + writer);
        Envelope rightful = envelope(type, topic, "n1");
        var wrongful = new Envelope(
                new EventId(source.name(), 1000, topic, 12), source, type, "", "n1", rightful.eventTime(), "");
        // Then
        assertThatThrownBy(() -> codec.encode(wrongful, type.prototype())).hasMessageContaining(reason);
        // When
        ProducerRecord<String, byte[]> forged = codec.encode(rightful, type.prototype());
        replace(forged, "ce_source", source.toString());
        replace(forged, "ce_id", wrongful.id().toString());
        // Then
        assertThat(codec.decode(received(forged)))
                .isEqualTo(
                        new DecodedRecord.Poison(type.ceType() + " may not be written by " + source + ", " + reason));
    }

    @ParameterizedTest
    @CsvSource({"health-service", "health-service-0", "blue-health-service-1", "health-service-blue-0"})
    void replicaOfAServiceHasItsNameBetweenDashes(String instance) {
        assertThat(new EventSource.Service("c1", instance).isReplicaOf("health-service"))
                .isTrue();
    }

    @Test
    void typeOfALaterReleaseOnTheTopicOfAnotherWriterIsPoison() {
        ProducerRecord<String, byte[]> rec = codec.encode(
                envelope(EventType.VERDICT_REACHED, Topic.VERDICTS, "n1"), EventType.VERDICT_REACHED.prototype());
        replace(rec, "ce_type", "io.gpufleet.verdict.reached.v2");
        assertThat(codec.decode(received(rec))).isInstanceOf(DecodedRecord.UnknownType.class);

        replace(rec, "ce_source", "/clusters/c1/nodes/n1");
        replace(rec, "ce_id", "n1/1000/verdicts/12");
        assertThat(codec.decode(received(rec))).isInstanceOf(DecodedRecord.Poison.class);
    }

    private static void replace(ProducerRecord<String, byte[]> rec, String header, String value) {
        rec.headers().remove(header).add(header, value.getBytes(UTF_8));
    }

    private ProducerRecord<String, byte[]> ofLaterRelease(String json) {
        ProducerRecord<String, byte[]> rec = fault();
        rec.headers().remove("ce_type").add("ce_type", "io.gpufleet.fault.observed.v2".getBytes(UTF_8));
        return withValue(rec, json);
    }

    private static ProducerRecord<String, byte[]> withValue(ProducerRecord<String, byte[]> rec, String json) {
        return new ProducerRecord<>(rec.topic(), null, rec.key(), json.getBytes(UTF_8), rec.headers());
    }

    private ProducerRecord<String, byte[]> fault() {
        return codec.encode(
                envelope(EventType.FAULT_OBSERVED, Topic.HEALTH, "n1"),
                FaultObserved.newBuilder()
                        .setFault(Fault.newBuilder().setXid(79))
                        .build());
    }

    private static Envelope envelope(EventType type, Topic topic, String node) {
        EventSource source = type.writer() == EventType.Writer.DAEMON
                ? new EventSource.Node("c1", node)
                : new EventSource.Service("c1", service(type, topic));
        return new Envelope(
                new EventId(source.name(), 1000, topic, 12),
                source,
                type,
                "GPU-1",
                node,
                new EventTime(Instant.parse("2026-11-20T22:00:00Z"), Instant.parse("2026-11-20T22:00:01Z"), 1000),
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    }

    private static String service(EventType type, Topic topic) {
        return switch (topic) {
            case HEALTH_STATE -> "health-service-0";
            case NODES -> "inventory-service-0";
            case HOLDINGS -> "allocation-service-0";
            default ->
                type.writer() == EventType.Writer.ANY_SERVICE
                        ? "any-service-0"
                        : type.writer().service() + "-0";
        };
    }

    static ConsumerRecord<String, byte[]> received(ProducerRecord<String, byte[]> rec) {
        ConsumerRecord<String, byte[]> received = received(rec.topic(), rec.key(), rec.value());
        rec.headers().forEach(received.headers()::add);
        return received;
    }

    private static ConsumerRecord<String, byte[]> received(String topic, String key, byte @Nullable [] value) {
        return new ConsumerRecord<>(
                topic,
                0,
                0,
                APPENDED.toEpochMilli(),
                TimestampType.LOG_APPEND_TIME,
                0,
                0,
                key,
                value,
                new org.apache.kafka.common.header.internals.RecordHeaders(),
                Optional.empty());
    }
}
