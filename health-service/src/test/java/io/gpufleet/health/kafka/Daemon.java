package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.FaultSource;
import io.gpufleet.proto.health.v1.OpenFault;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.health.v1.RecoveryAction;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes to the log as the daemon of one node would. */
public final class Daemon implements AutoCloseable {
    private final Codec codec;
    private final String node;
    private final KafkaProducer<String, byte[]> producer;
    private final Map<Topic, Long> sequences = new EnumMap<>(Topic.class);
    private final String boot = "boot-1";
    private final long epoch = 1_000;

    /** A daemon of its first boot. */
    public Daemon(String bootstrap, Codec codec, String node) {
        this.codec = codec;
        this.node = node;
        var config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("acks", "all");
        this.producer = new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer());
    }

    /** UUID of one of its GPUs. */
    public String gpu(int index) {
        return "GPU-" + node + "-" + index;
    }

    /** Announces as many GPUs. */
    public Daemon announces(int gpus) {
        var announced = NodeAnnounced.newBuilder().setBootId(boot);
        for (int i = 0; i < gpus; i++) {
            announced.addGpus(Gpu.newBuilder()
                    .setUuid(gpu(i))
                    .setIndex(i)
                    .setModel("NVIDIA H100 80GB HBM3")
                    .setLocalHealth(LocalHealth.LOCAL_HEALTH_HEALTHY));
        }
        return send(Topic.INVENTORY, EventType.NODE_ANNOUNCED, announced.build(), Duration.ZERO);
    }

    /** Saw an XID just now. */
    public Daemon sees(int gpu, int xid) {
        return saw(gpu, xid, Duration.ZERO);
    }

    /** Saw an XID a while ago. */
    public Daemon saw(int gpu, int xid, Duration ago) {
        return send(
                Topic.HEALTH,
                EventType.FAULT_OBSERVED,
                FaultObserved.newBuilder()
                        .setBootId(boot)
                        .setFault(fault(gpu, xid))
                        .build(),
                ago);
    }

    /** Has proven the fault gone. */
    public Daemon clears(int gpu, int xid) {
        return send(
                Topic.HEALTH,
                EventType.FAULT_CLEARED,
                FaultCleared.newBuilder()
                        .setBootId(boot)
                        .setFault(fault(gpu, xid))
                        .setProof("quiet for 5m")
                        .build(),
                Duration.ZERO);
    }

    /** Lists XIDs of one GPU as all that is open. */
    public Daemon lists(int gpu, int... xids) {
        var open = OpenFaults.newBuilder().setBootId(boot);
        for (int xid : xids) {
            open.addFaults(OpenFault.newBuilder().setFault(fault(gpu, xid)).setObservations(1));
        }
        return send(Topic.HEALTH, EventType.FAULTS_OPEN, open.build(), Duration.ZERO);
    }

    private Fault fault(int gpu, int xid) {
        return Fault.newBuilder()
                .setDeviceUuid(gpu(gpu))
                .setModel("NVIDIA H100 80GB HBM3")
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(xid)
                .addAllSources(List.of(FaultSource.FAULT_SOURCE_NVML_EVENT))
                .setRecoveryAction(RecoveryAction.RECOVERY_ACTION_NONE)
                .setMessage("NVRM: Xid (PCI:0000:3b:00): " + xid)
                .build();
    }

    private Daemon send(Topic topic, EventType type, Message payload, Duration ago) {
        long sequence = sequences.merge(topic, 1L, Long::sum);
        Instant now = Instant.now();
        var envelope = new Envelope(
                new EventId(node, epoch, topic, sequence),
                new Source.Node(codec.cluster(), node),
                type,
                "",
                node,
                now.minus(ago),
                now,
                ago.toMillis(),
                "");
        try {
            producer.send(codec.encode(envelope, payload)).get();
            return this;
        } catch (ExecutionException | InterruptedException failed) {
            throw new AssertionError("the record was not taken", failed);
        }
    }

    @Override
    public void close() {
        producer.close();
    }
}
