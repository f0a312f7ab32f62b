package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DeviceOffer;
import io.gpufleet.proto.health.v1.DeviceOfferChanged;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.HolderAtFault;
import io.gpufleet.proto.health.v1.OpenFault;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TraceParent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Events of a node of eight GPUs about a fault, from its announcement until the fault is cleared. */
final class SampleEvents {
    private static final String NODE = "sample-node";
    private static final String BOOT = "sample-boot";
    private static final int GPUS = 8;
    /** A GPU that fell off the bus: every policy withdraws it. */
    private static final int XID = 79;

    private final Instant now;
    private final List<Inbound.Event> events = new ArrayList<>();

    private SampleEvents(Instant now) {
        this.now = now;
    }

    static List<Inbound.Event> of(Instant now) {
        var sample = new SampleEvents(now);
        sample.add(Topic.INVENTORY, EventType.NODE_ANNOUNCED, announced());
        for (int gpu = 0; gpu < 2; gpu++) {
            sample.fault(gpu);
        }
        return List.copyOf(sample.events);
    }

    private void fault(int gpu) {
        add(
                Topic.HEALTH,
                EventType.FAULT_OBSERVED,
                FaultObserved.newBuilder()
                        .setBootId(BOOT)
                        .setFault(xid(gpu))
                        .addHolders(
                                HolderAtFault.newBuilder().setNamespace("team").setPod("train"))
                        .build());
        add(
                Topic.HEALTH,
                EventType.DEVICE_OFFERED,
                DeviceOfferChanged.newBuilder()
                        .setBootId(BOOT)
                        .setOffer(offer(gpu))
                        .build());
        add(
                Topic.HEALTH,
                EventType.FAULTS_OPEN,
                OpenFaults.newBuilder()
                        .setBootId(BOOT)
                        .addFaults(OpenFault.newBuilder().setFault(xid(gpu)).setObservations(1))
                        .addOffers(offer(gpu))
                        .build());
        add(
                Topic.HEALTH,
                EventType.FAULT_CLEARED,
                FaultCleared.newBuilder()
                        .setBootId(BOOT)
                        .setFault(xid(gpu))
                        .setProof("sample")
                        .build());
    }

    private static NodeAnnounced announced() {
        var message = NodeAnnounced.newBuilder().setBootId(BOOT);
        for (int gpu = 0; gpu < GPUS; gpu++) {
            message.addGpus(Gpu.newBuilder().setUuid(uuid(gpu)).setModel("NVIDIA H100 80GB HBM3"));
        }
        return message.build();
    }

    private static Fault xid(int gpu) {
        return Fault.newBuilder()
                .setDeviceUuid(uuid(gpu))
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(XID)
                .setMessage("sample")
                .build();
    }

    private static DeviceOffer offer(int gpu) {
        return DeviceOffer.newBuilder()
                .setDeviceUuid(uuid(gpu))
                .setResource("nvidia.com/gpu")
                .setOfferedHealthy(false)
                .setLocallyHealthy(false)
                .setOverlayAllows(true)
                .build();
    }

    private static String uuid(int gpu) {
        return "GPU-0000000" + gpu;
    }

    private void add(Topic topic, EventType type, Message payload) {
        var id = new EventId(NODE, 1, topic, events.size() + 1L);
        var envelope = new Envelope(
                id,
                new EventSource.Node("sample", NODE),
                type,
                "",
                NODE,
                new EventTime(now, now, 0),
                TraceParent.of(id));
        events.add(new Inbound.Event(envelope, payload, now, false));
    }
}
