package io.gpufleet.allocation;

import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import io.gpufleet.proto.allocation.v1.DevicesAllocated;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.PodFact;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Stamp;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.fold.Outbound;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.NullMarked;

/** Writes what the daemon of one node writes, and what others tell of its pods. */
@NullMarked
final class TestDaemon implements AutoCloseable {
    static final String BOOT = "boot-1";

    private final String node;
    private final Stamp stamp;
    private final Stamp services;
    private final KafkaProducer<String, byte[]> producer;

    TestDaemon(String bootstrap, String cluster, String node) {
        this.node = node;
        var codec = new Codec(cluster, new Topics(Topics.DEFAULT_PREFIX));
        Clock clock = Clock.systemUTC();
        this.stamp = new Stamp(codec, new Source.Node(cluster, node), clock.millis(), clock);
        this.services = new Stamp(codec, new Source.Service(cluster, "test-" + node), clock.millis(), clock);
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new ByteArraySerializer());
    }

    String node() {
        return node;
    }

    void announce(String model, String shortModel, int gpus) {
        var announced = NodeAnnounced.newBuilder().setBootId(BOOT);
        for (int i = 0; i < gpus; i++) {
            announced.addGpus(Gpu.newBuilder()
                    .setUuid(device(i))
                    .setIndex(i)
                    .setModel(model)
                    .setShortModel(shortModel));
        }
        send(stamp, Topic.INVENTORY, EventType.NODE_ANNOUNCED, announced.build(), Instant.now());
    }

    String device(int index) {
        return "GPU-" + node + "-" + index;
    }

    void allocated(Instant at, int... devices) {
        var allocated = DevicesAllocated.newBuilder().setBootId(BOOT).setResource("nvidia.com/gpu");
        for (int device : devices) {
            allocated.addDeviceIds(device(device));
        }
        send(stamp, Topic.ALLOCATION, EventType.DEVICES_ALLOCATED, allocated.build(), at);
    }

    /** Pods by the device that each of them holds. */
    void held(Instant at, Map<Integer, String> podByDevice) {
        send(stamp, Topic.ALLOCATION, EventType.DEVICES_HELD, snapshot(podByDevice), at);
    }

    /** The same record twice on the log, as a relay with at-least-once delivery may leave it. */
    void heldTwice(Instant at, Map<Integer, String> podByDevice) {
        ProducerRecord<String, byte[]> rec = stamp.next(
                Outbound.Event.of(Topic.ALLOCATION, EventType.DEVICES_HELD, node, snapshot(podByDevice), at));
        write(rec);
        write(rec);
    }

    private DevicesHeld snapshot(Map<Integer, String> podByDevice) {
        var held = DevicesHeld.newBuilder().setBootId(BOOT).setComplete(true);
        podByDevice.forEach((device, pod) -> held.addHolders(Holder.newBuilder()
                .setNamespace("ml")
                .setPod(pod)
                .setPodUid("uid-" + pod)
                .setContainer("main")
                .setResource("nvidia.com/gpu")
                .addAllDevices(List.of(HeldDevice.newBuilder()
                        .setId(device(device))
                        .setDeviceUuid(device(device))
                        .setShortModel("A100")
                        .setShareOf(1)
                        .build()))));
        return held.build();
    }

    void podFinished(String pod, Instant at) {
        var fact = PodFact.newBuilder()
                .setNamespace("ml")
                .setName(pod)
                .setUid("uid-" + pod)
                .setPhase("Succeeded")
                .setFinishedAt(Timestamp.newBuilder().setSeconds(at.getEpochSecond()))
                .build();
        send(
                services,
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder().setPod(fact).build(),
                at);
    }

    private void send(Stamp by, Topic topic, EventType type, Message payload, Instant at) {
        write(by.next(Outbound.Event.of(topic, type, node, payload, at)));
    }

    private void write(ProducerRecord<String, byte[]> rec) {
        try {
            producer.send(rec).get();
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException("the broker did not take it", failed);
        }
    }

    @Override
    public void close() {
        producer.close();
    }
}
