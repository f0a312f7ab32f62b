package io.gpufleet.testbed.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

/** Whoever may write to a topic may write anything: no record ends its reader. */
class ChangedRecordsTest {
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final String PAYLOAD = new String(
            Codec.toJson(FaultObserved.newBuilder()
                    .setBootId("boot-1")
                    .setFault(Fault.newBuilder()
                            .setKind(FaultKind.FAULT_KIND_XID)
                            .setXid(79)
                            .setDeviceUuid("GPU-1")
                            .putCounters("volatile", 3)
                            .setMessage("GPU has fallen off the bus"))
                    .build()),
            UTF_8);
    private static final Map<String, String> HEADERS = Map.of(
            "content-type", "application/json",
            "ce_specversion", "1.0",
            "ce_id", "n1/1000/health/12",
            "ce_source", "/clusters/c1/nodes/n1",
            "ce_type", "io.gpufleet.fault.observed.v1",
            "ce_time", "2026-11-20T22:00:00Z",
            "ce_recordedtime", "2026-11-20T22:00:01Z",
            "ce_sequence", "00000000000000000012",
            "ce_partitionkey", "n1");

    private final Codec codec = new Codec("c1", TOPICS);

    @Test
    void changedPayloadIsAnEventOrPoison() {
        ParserFuzzer.check(20_000, List.of(PAYLOAD, "{}"), List.of(), payload -> {
            var rec = received(payload, new RecordHeaders());
            HEADERS.forEach((name, value) -> rec.headers().add(name, value.getBytes(UTF_8)));
            codec.decode(rec);
            codec.decodeState(rec);
        });
    }

    @Test
    void changedHeadersAreAnEventOrPoison() {
        for (String changed : HEADERS.keySet()) {
            ParserFuzzer.check(2_000, List.of(HEADERS.getOrDefault(changed, "")), List.of(), text -> {
                var rec = received("{}".getBytes(UTF_8), new RecordHeaders());
                HEADERS.forEach(
                        (name, value) -> rec.headers().add(name, name.equals(changed) ? text : value.getBytes(UTF_8)));
                codec.decode(rec);
            });
        }
    }

    private static ConsumerRecord<String, byte[]> received(byte[] payload, RecordHeaders headers) {
        return new ConsumerRecord<>(
                TOPICS.name(Topic.HEALTH),
                0,
                0,
                0,
                TimestampType.LOG_APPEND_TIME,
                0,
                payload.length,
                "n1",
                payload,
                headers,
                Optional.empty());
    }
}
