package io.gpufleet.inventory;

import io.gpufleet.proto.inventory.v1.AnnounceReason;
import io.gpufleet.proto.inventory.v1.DriverState;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.MigMode;
import io.gpufleet.proto.inventory.v1.MigStrategy;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Stamp;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.fold.Outbound;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes what the daemon of one node writes. */
final class TestDaemon implements AutoCloseable {
    private final String node;
    private final Stamp stamp;
    private final KafkaProducer<String, byte[]> producer;

    TestDaemon(String bootstrap, String cluster, String node) {
        this.node = node;
        var codec = new Codec(cluster, new Topics(Topics.DEFAULT_PREFIX));
        Clock clock = Clock.systemUTC();
        this.stamp = new Stamp(codec, new Source.Node(cluster, node), clock.millis(), clock);
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new ByteArraySerializer());
    }

    void announce(String model, String shortModel, String cuda, int gpus) {
        announce("boot-" + node, model, shortModel, cuda, gpus);
    }

    void announce(String bootId, String model, String shortModel, String cuda, int gpus) {
        var announced = NodeAnnounced.newBuilder()
                .setBootId(bootId)
                .setReason(AnnounceReason.ANNOUNCE_REASON_START)
                .setDriverState(DriverState.DRIVER_STATE_READY)
                .setDriverVersion("550.54.15")
                .setCudaVersion(cuda)
                .setMigStrategy(MigStrategy.MIG_STRATEGY_NONE);
        for (int i = 0; i < gpus; i++) {
            announced.addGpus(Gpu.newBuilder()
                    .setUuid("GPU-" + node + "-" + i)
                    .setIndex(i)
                    .setModel(model)
                    .setShortModel(shortModel)
                    .setMemoryBytes(40L << 30)
                    .setMigMode(MigMode.MIG_MODE_DISABLED)
                    .setLocalHealth(LocalHealth.LOCAL_HEALTH_HEALTHY));
        }
        send(EventType.NODE_ANNOUNCED, announced.build());
    }

    void depart() {
        send(
                EventType.NODE_DEPARTED,
                NodeDeparted.newBuilder()
                        .setBootId("boot-" + node)
                        .setReason("shutdown")
                        .build());
    }

    private void send(EventType type, com.google.protobuf.Message payload) {
        try {
            producer.send(stamp.next(Outbound.Event.of(
                            Topic.INVENTORY,
                            type,
                            node,
                            payload,
                            Clock.systemUTC().instant())))
                    .get();
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException("the broker did not take it", failed);
        }
    }

    @Override
    public void close() {
        producer.close();
    }
}
