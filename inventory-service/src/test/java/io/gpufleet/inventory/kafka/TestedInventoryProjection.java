package io.gpufleet.inventory.kafka;

import com.google.protobuf.Message;
import io.gpufleet.inventory.app.NodeTimers;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.SnapshotSchedule;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.HealthState;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.runtime.consistency.TestEvent;
import io.gpufleet.runtime.consistency.TestedProjection;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.util.Random;
import java.util.stream.IntStream;

/** Announced nodes: of one in four change the devices, of the others the holders, the Node object, the verdict. */
final class TestedInventoryProjection implements TestedProjection<NodeState> {
    private static final int GPUS = 4;

    @Override
    public Projection<NodeState> create() {
        return new InventoryProjection(
                new NodeTimers(NodeLossPolicy.STANDARD, new SnapshotSchedule(SnapshotSchedule.INTERVAL), _ -> {}));
    }

    @Override
    public TestEvent first(String node) {
        return announced(node, GPUS);
    }

    @Override
    public TestEvent next(String node, Random random) {
        return switch (Math.floorMod(node.hashCode(), 4)) {
            case 0 -> random.nextInt(5) == 0 ? departed(node) : announced(node, 1 + random.nextInt(GPUS));
            case 1 -> held(node, random);
            case 2 -> object(random);
            default -> verdict(node, random);
        };
    }

    private static TestEvent announced(String node, int gpus) {
        var event = NodeAnnounced.newBuilder().setBootId("boot-" + node);
        IntStream.range(0, gpus)
                .forEach(i ->
                        event.addGpus(Gpu.newBuilder().setUuid(gpu(node, i)).setIndex(i)));
        return new TestEvent(Topic.INVENTORY, EventType.NODE_ANNOUNCED, event.build());
    }

    private static TestEvent departed(String node) {
        return new TestEvent(
                Topic.INVENTORY,
                EventType.NODE_DEPARTED,
                NodeDeparted.newBuilder().setBootId("boot-" + node).build());
    }

    private static TestEvent held(String node, Random random) {
        var event = DevicesHeld.newBuilder().setBootId("boot-" + node);
        IntStream.range(0, random.nextInt(GPUS))
                .forEach(i -> event.addHolders(Holder.newBuilder()
                        .setNamespace("ml")
                        .setPod("pod-" + random.nextInt(3))
                        .addDevices(HeldDevice.newBuilder().setId(gpu(node, i)).setDeviceUuid(gpu(node, i)))));
        return new TestEvent(Topic.ALLOCATION, EventType.DEVICES_HELD, event.build());
    }

    private static TestEvent object(Random random) {
        String uid = "uid-" + random.nextInt(2);
        var fact = random.nextInt(5) == 0
                ? KubernetesFact.newBuilder()
                        .setNodeDeleted(NodeDeleted.newBuilder().setUid(uid))
                : KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder()
                                .setUid(uid)
                                .putLabels("nvidia.com/mig.config", "config-" + random.nextInt(2)));
        return new TestEvent(Topic.SIGNALS, EventType.KUBERNETES_OBSERVED, fact.build());
    }

    private static TestEvent verdict(String node, Random random) {
        var verdict = NodeVerdict.newBuilder()
                .setState(random.nextBoolean() ? HealthState.HEALTH_STATE_HEALTHY : HealthState.HEALTH_STATE_UNHEALTHY)
                .addDevices(DeviceVerdict.newBuilder()
                        .setDeviceUuid(gpu(node, random.nextInt(GPUS)))
                        .setState(HealthState.HEALTH_STATE_UNHEALTHY));
        return new TestEvent(Topic.VERDICTS, EventType.VERDICT_REACHED, verdict.build());
    }

    private static String gpu(String node, int index) {
        return "GPU-" + node + "-" + index;
    }

    /** All times of a view are those of its events. */
    @Override
    public Message withoutTimes(Message message) {
        return message;
    }

    /** The heartbeats. */
    @Override
    public boolean ticksNeedMemory() {
        return true;
    }
}
