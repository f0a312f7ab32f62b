package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/** Records that a broker takes and nobody should write, from a seed: each is an event that was changed in some places. */
@NullMarked
final class HostileRecords {
    private static final List<Topic> TOPICS =
            List.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.SIGNALS, Topic.TELEMETRY);
    private static final List<String> HEADERS = List.of(
            "content-type",
            "ce_specversion",
            "ce_id",
            "ce_source",
            "ce_type",
            "ce_time",
            "ce_recordedtime",
            "ce_agems",
            "ce_partitionkey",
            "ce_sequence",
            "ce_subject",
            "ce_traceparent",
            Changelog.VERSION_HEADER,
            "dlq.topic",
            "dlq.consumer",
            "dlq.partition",
            "dlq.offset",
            "dlq.timestamp",
            "dlq.replayed");
    private static final List<String> TEXTS = List.of(
            "",
            "@offsets",
            "@active",
            "@writer/health-service-0",
            "-1",
            "9223372036854775807",
            "1e999999999",
            "+12345-01-01T00:00:00Z",
            "-999999999-01-01T00:00:00Z",
            "2026-11-20T12:00:00.999999999999Z",
            "/clusters/c1/nodes/@offsets",
            "/clusters/c1/services/health-service-0",
            "/clusters/c2/nodes/hostile",
            "hostile/4102444800000/health/1",
            "hostile/1/health/9223372036854775807",
            "io.gpufleet.fault.observed.v9",
            "io.gpufleet.offsets.committed.v1",
            "io.gpufleet.active.changed.v1",
            "io.gpufleet.health.changed.v1",
            "io.gpufleet.events.lost.v1",
            "application/protobuf",
            "counting",
            "null",
            "\u0000\ud83d\ude00\u202e");

    private final Codec codec;
    private final Random random;
    private long sequence;

    HostileRecords(Codec codec, long seed) {
        this.codec = codec;
        this.random = new Random(seed);
    }

    ProducerRecord<byte[], byte[]> next() {
        ProducerRecord<String, byte[]> event = event();
        List<Header> headers = new ArrayList<>(Arrays.asList(event.headers().toArray()));
        for (int changes = random.nextInt(3); changes > 0; changes--) {
            change(headers);
        }
        if (random.nextInt(10) == 0) {
            forgeReplay(headers, event.topic());
        }
        Topic topic = TOPICS.get(random.nextInt(TOPICS.size()));
        String name = random.nextInt(3) == 0 ? codec.topics().name(topic) : event.topic();
        return new ProducerRecord<>(
                name,
                random.nextInt(4) == 0 ? random.nextInt(topic.partitions()) : null,
                key(event.key()),
                value(event.value()),
                headers);
    }

    private ProducerRecord<String, byte[]> event() {
        String node = "hostile-" + random.nextInt(5);
        Instant now = Instant.now();
        return codec.encode(
                new Envelope(
                        new EventId(node, 1 + random.nextInt(3), Topic.HEALTH, 1 + sequence++ / 2),
                        new EventSource.Node(TestBus.CLUSTER, node),
                        EventType.FAULT_OBSERVED,
                        "",
                        node,
                        new EventTime(now, now, 0),
                        ""),
                FaultObserved.newBuilder()
                        .setBootId(oneOf("b1", "b2", "b".repeat(200_000)))
                        .setFault(Fault.newBuilder()
                                .setDeviceUuid(oneOf("GPU-1", "GPU-2", "G".repeat(300_000)))
                                .setMessage(oneOf("", CountingProjection.REFUSED, CountingProjection.HUGE))
                                .setXid(79))
                        .build());
    }

    private void change(List<Header> headers) {
        String name = HEADERS.get(random.nextInt(HEADERS.size()));
        switch (random.nextInt(5)) {
            case 0 -> headers.removeIf(header -> header.key().equals(name));
            case 1 -> headers.add(header(name, bytes(random.nextInt(64))));
            case 2 -> headers.add(header(name, null));
            case 3 -> {
                for (int i = 0; i < 2_000; i++) {
                    headers.add(header("x-" + i, bytes(8)));
                }
            }
            default -> headers.add(header(name, text().getBytes(UTF_8)));
        }
    }

    /** As if a dead letter of this service were written again. */
    private void forgeReplay(List<Header> headers, String topic) {
        headers.add(
                header("dlq.topic", oneOf(topic, "t".repeat(600_000), text()).getBytes(UTF_8)));
        headers.add(header("dlq.consumer", oneOf("counting", text(), "counting").getBytes(UTF_8)));
        headers.add(header("dlq.partition", oneOf("0", "-7", "99999999999").getBytes(UTF_8)));
        headers.add(header("dlq.offset", oneOf("0", "9223372036854775807", "x").getBytes(UTF_8)));
        headers.add(
                header("dlq.timestamp", oneOf("0", "9223372036854775807", "-1").getBytes(UTF_8)));
        headers.add(
                header("dlq.replayed", oneOf("now", "", "2026-11-20T12:00:00Z").getBytes(UTF_8)));
    }

    private byte @Nullable [] key(String right) {
        return switch (random.nextInt(12)) {
            case 0 -> null;
            case 1 -> new byte[0];
            case 2 -> bytes(200_000);
            case 3 -> text().getBytes(UTF_8);
            case 4 -> bytes(16);
            default -> right.getBytes(UTF_8);
        };
    }

    private byte @Nullable [] value(byte[] right) {
        UnaryOperator<byte[]> changed = switch (random.nextInt(12)) {
            case 0 -> _ -> new byte[0];
            case 1 -> value -> Arrays.copyOf(value, value.length / 2);
            case 2 -> _ -> bytes(900_000);
            case 3 -> _ -> "[".repeat(200_000).getBytes(UTF_8);
            case 4 -> _ -> "{\"fault\":{\"xid\":1e999999999}}".getBytes(UTF_8);
            case 5 -> _ -> ("{\"bootId\":\"" + "b".repeat(400_000) + "\"}").getBytes(UTF_8);
            default -> UnaryOperator.identity();
        };
        return random.nextInt(12) == 0 ? null : changed.apply(right);
    }

    private String oneOf(String... texts) {
        // The first is the likeliest, the others are for exceptions.
        return random.nextInt(3) > 0 ? texts[0] : texts[random.nextInt(texts.length)];
    }

    private String text() {
        return TEXTS.get(random.nextInt(TEXTS.size()));
    }

    private byte[] bytes(int length) {
        var bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static Header header(String name, byte @Nullable [] value) {
        return new org.apache.kafka.common.header.internals.RecordHeader(name, value);
    }
}
