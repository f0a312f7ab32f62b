package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.NullMarked;

/** Writes events like a node-daemon: one boot, one epoch, a sequence for each topic. */
@NullMarked
final class NodeEventProducer implements AutoCloseable {
    final String node;
    final long epoch;
    final String boot;
    private final TestBus bus;
    private final KafkaProducer<String, byte[]> producer;
    private final Map<Topic, Long> sequences = new EnumMap<>(Topic.class);
    private final List<Future<RecordMetadata>> appended = new ArrayList<>();
    private Duration clockOffset = Duration.ZERO;

    NodeEventProducer(TestBus bus, String node, long epoch, String boot) {
        this.bus = bus;
        this.node = node;
        this.epoch = epoch;
        this.boot = boot;
        var config = new Properties();
        config.put("bootstrap.servers", bus.broker.bootstrap());
        config.put("acks", "all");
        // A broker takes any first sequence number on a partition made a moment ago, so that a second batch in flight
        // can overtake
        // the first, which then expires as out of order.
        config.put("max.in.flight.requests.per.connection", "1");
        this.producer = new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer());
    }

    NodeEventProducer withClockOffset(Duration offset) {
        this.clockOffset = offset;
        return this;
    }

    ProducerRecord<String, byte[]> fault(String device, int xid, String message) {
        return next(
                Topic.HEALTH,
                EventType.FAULT_OBSERVED,
                FaultObserved.newBuilder()
                        .setBootId(boot)
                        .setFault(Fault.newBuilder()
                                .setDeviceUuid(device)
                                .setKind(FaultKind.FAULT_KIND_XID)
                                .setXid(xid)
                                .setMessage(message))
                        .build(),
                0);
    }

    ProducerRecord<String, byte[]> announced() {
        return next(
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                NodeAnnounced.newBuilder().setBootId(boot).build(),
                0);
    }

    ProducerRecord<String, byte[]> lost(long from, long to) {
        sequences.put(Topic.HEALTH, Math.max(to, sequences.getOrDefault(Topic.HEALTH, 0L)));
        return next(
                Topic.HEALTH,
                EventType.EVENTS_LOST,
                EventsLost.newBuilder()
                        .setBootId(boot)
                        .setEpoch(epoch)
                        .setFromSequence(from)
                        .setToSequence(to)
                        .build(),
                0);
    }

    ProducerRecord<String, byte[]> next(Topic topic, EventType type, Message payload, long ageMillis) {
        long sequence = sequences.merge(topic, 1L, Long::sum);
        Instant now = Instant.now().plus(clockOffset);
        return bus.codec.encode(
                new Envelope(
                        new EventId(node, epoch, topic, sequence),
                        new EventSource.Node(TestBus.CLUSTER, node),
                        type,
                        "",
                        node,
                        new EventTime(now, now, ageMillis),
                        ""),
                payload);
    }

    /** Sends a record and waits for it; the same record may be sent again. */
    ProducerRecord<String, byte[]> send(ProducerRecord<String, byte[]> rec) {
        try {
            producer.send(new ProducerRecord<>(
                            rec.topic(),
                            null,
                            rec.key(),
                            rec.value(),
                            new org.apache.kafka.common.header.internals.RecordHeaders(
                                    rec.headers().toArray())))
                    .get();
            return rec;
        } catch (ExecutionException | InterruptedException failed) {
            throw new AssertionError("the record was not accepted", failed);
        }
    }

    /** Sends a record that says itself when it was appended, for a topic that keeps such times; {@link #flush} waits for it. */
    void append(ProducerRecord<String, byte[]> rec, Instant at) {
        appended.add(producer.send(
                new ProducerRecord<>(rec.topic(), null, at.toEpochMilli(), rec.key(), rec.value(), rec.headers())));
    }

    /** Waits until what was appended is on the broker. */
    void flush() {
        producer.flush();
        assertThat(appended).allMatch(sent -> sent.state() == Future.State.SUCCESS);
    }

    /** Id of the event of a record. */
    static String idOf(ProducerRecord<String, byte[]> rec) {
        return new String(rec.headers().lastHeader("ce_id").value(), UTF_8);
    }

    @Override
    public void close() {
        producer.close();
    }
}
