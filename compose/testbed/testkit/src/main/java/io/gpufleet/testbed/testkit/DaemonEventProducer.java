package io.gpufleet.testbed.testkit;

import com.google.protobuf.Message;
import io.gpufleet.proto.allocation.v1.DevicesAllocated;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.FaultSource;
import io.gpufleet.proto.health.v1.HolderAtFault;
import io.gpufleet.proto.health.v1.OpenFault;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.health.v1.RecoveryAction;
import io.gpufleet.proto.inventory.v1.AnnounceReason;
import io.gpufleet.proto.inventory.v1.DriverState;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.MigMode;
import io.gpufleet.proto.inventory.v1.MigStrategy;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.telemetry.v1.TelemetrySampled;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Produces the events of one node's daemon: one boot, one incarnation. Calls return once the broker has the event. */
public final class DaemonEventProducer implements AutoCloseable {
    private static final String GPU = "nvidia.com/gpu";
    private static final String NAMESPACE = "ml";
    private static final long MEMORY_BYTES = 40L << 30;

    private final String node;
    private final String bootId;
    private final EventProducer producer;
    private TestGpus gpus = TestGpus.h100(0);

    /** A daemon in the boot {@code boot-<node>}, started now. */
    public DaemonEventProducer(String bootstrapServers, Codec codec, String node) {
        this.node = node;
        this.bootId = "boot-" + node;
        this.producer = new EventProducer(
                bootstrapServers, codec, new EventSource.Node(codec.cluster(), node), System.currentTimeMillis());
    }

    /** Name of the node. */
    public String node() {
        return node;
    }

    /** UUID of a GPU. */
    public String gpu(int index) {
        return "GPU-" + node + "-" + index;
    }

    /** Announces the node with healthy GPUs. */
    public DaemonEventProducer announce(TestGpus announced) {
        return announce(announcement(announced).build());
    }

    /** An announcement to be changed. */
    public NodeAnnounced.Builder announcement(TestGpus announced) {
        gpus = announced;
        var event = NodeAnnounced.newBuilder()
                .setBootId(bootId)
                .setReason(AnnounceReason.ANNOUNCE_REASON_START)
                .setDriverState(DriverState.DRIVER_STATE_READY)
                .setDriverVersion("550.54.15")
                .setCudaVersion(announced.cudaVersion())
                .setMigStrategy(MigStrategy.MIG_STRATEGY_NONE);
        for (int i = 0; i < announced.count(); i++) {
            event.addGpus(Gpu.newBuilder()
                    .setUuid(gpu(i))
                    .setIndex(i)
                    .setModel(announced.model())
                    .setShortModel(announced.shortModel())
                    .setMemoryBytes(MEMORY_BYTES)
                    .setMigMode(MigMode.MIG_MODE_DISABLED)
                    .setLocalHealth(LocalHealth.LOCAL_HEALTH_HEALTHY));
        }
        return event;
    }

    /** Announces the node. */
    public DaemonEventProducer announce(NodeAnnounced announced) {
        return send(Topic.INVENTORY, EventType.NODE_ANNOUNCED, announced, Instant.now());
    }

    /** Reports the end of the daemon. */
    public DaemonEventProducer depart(String reason) {
        var departed =
                NodeDeparted.newBuilder().setBootId(bootId).setReason(reason).build();
        return send(Topic.INVENTORY, EventType.NODE_DEPARTED, departed, Instant.now());
    }

    /** Reports an XID observed now. */
    public DaemonEventProducer observeXid(int gpu, int xid) {
        return observeXid(gpu, xid, Duration.ZERO);
    }

    /** Reports an XID of a GPU that a pod held; its UID is {@code uid-<pod>}. */
    public DaemonEventProducer observeXidHeldBy(String namespace, String pod, int gpu, int xid) {
        var observed = FaultObserved.newBuilder()
                .setBootId(bootId)
                .setFault(fault(gpu, xid))
                .addHolders(HolderAtFault.newBuilder()
                        .setNamespace(namespace)
                        .setPod(pod)
                        .setPodUid("uid-" + pod)
                        .setContainer("main"))
                .build();
        return send(Topic.HEALTH, EventType.FAULT_OBSERVED, observed, Instant.now());
    }

    /** Reports an XID observed a while ago. */
    public DaemonEventProducer observeXid(int gpu, int xid, Duration age) {
        var observed = FaultObserved.newBuilder()
                .setBootId(bootId)
                .setFault(fault(gpu, xid))
                .build();
        return send(
                Topic.HEALTH, EventType.FAULT_OBSERVED, observed, Instant.now().minus(age));
    }

    /** Reports that an XID is cleared. */
    public DaemonEventProducer clearXid(int gpu, int xid) {
        var cleared = FaultCleared.newBuilder()
                .setBootId(bootId)
                .setFault(fault(gpu, xid))
                .setProof("quiet for 5m")
                .build();
        return send(Topic.HEALTH, EventType.FAULT_CLEARED, cleared, Instant.now());
    }

    /** Lists the XIDs of one GPU as all open faults of the node. */
    public DaemonEventProducer listOpenXids(int gpu, int... xids) {
        var open = OpenFaults.newBuilder().setBootId(bootId);
        for (int xid : xids) {
            open.addFaults(OpenFault.newBuilder().setFault(fault(gpu, xid)).setObservations(1));
        }
        return send(Topic.HEALTH, EventType.FAULTS_OPEN, open.build(), Instant.now());
    }

    private Fault fault(int gpu, int xid) {
        return Fault.newBuilder()
                .setDeviceUuid(gpu(gpu))
                .setModel(gpus.model())
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(xid)
                .addSources(FaultSource.FAULT_SOURCE_NVML_EVENT)
                .setRecoveryAction(RecoveryAction.RECOVERY_ACTION_NONE)
                .setMessage("NVRM: Xid (PCI:0000:3b:00): " + xid)
                .build();
    }

    /** Reports an Allocate call of the kubelet. */
    public DaemonEventProducer allocate(Instant at, int... indexes) {
        var allocated = DevicesAllocated.newBuilder().setBootId(bootId).setResource(GPU);
        for (int index : indexes) {
            allocated.addDeviceIds(gpu(index));
        }
        return send(Topic.ALLOCATION, EventType.DEVICES_ALLOCATED, allocated.build(), at);
    }

    /** Sends the samples of now, which are the daemon's heartbeat, too. */
    public DaemonEventProducer sample() {
        var sampled = TelemetrySampled.newBuilder().setBootId(bootId).build();
        return send(Topic.TELEMETRY, EventType.TELEMETRY_SAMPLED, sampled, Instant.now());
    }

    /** Reports all holders: the pod of each GPU that is held, in the namespace {@code ml}. */
    public DaemonEventProducer hold(Instant at, Map<Integer, String> podByGpu) {
        return send(Topic.ALLOCATION, EventType.DEVICES_HELD, held(podByGpu), at);
    }

    /** The same, with the record twice in the log, as at-least-once delivery may leave it. */
    public DaemonEventProducer holdTwice(Instant at, Map<Integer, String> podByGpu) {
        ProducerRecord<String, byte[]> record =
                producer.record(Topic.ALLOCATION, EventType.DEVICES_HELD, node, held(podByGpu), at);
        producer.send(record);
        producer.send(record);
        return this;
    }

    private DevicesHeld held(Map<Integer, String> podByGpu) {
        var held = DevicesHeld.newBuilder().setBootId(bootId).setComplete(true);
        podByGpu.forEach((index, pod) -> held.addHolders(Holder.newBuilder()
                .setNamespace(NAMESPACE)
                .setPod(pod)
                .setPodUid("uid-" + pod)
                .setContainer("main")
                .setResource(GPU)
                .addDevices(HeldDevice.newBuilder()
                        .setId(gpu(index))
                        .setDeviceUuid(gpu(index))
                        .setShortModel(gpus.shortModel())
                        .setShareOf(1))));
        return held.build();
    }

    private DaemonEventProducer send(Topic topic, EventType type, Message payload, Instant occurredAt) {
        producer.send(producer.record(topic, type, node, payload, occurredAt));
        return this;
    }

    @Override
    public void close() {
        producer.close();
    }
}
