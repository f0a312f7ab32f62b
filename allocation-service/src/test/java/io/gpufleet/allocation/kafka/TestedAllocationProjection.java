package io.gpufleet.allocation.kafka;

import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.proto.allocation.v1.DevicesAllocated;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.proto.signal.v1.PodFact;
import io.gpufleet.runtime.consistency.TestEvent;
import io.gpufleet.runtime.consistency.TestedProjection;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.Random;
import java.util.stream.IntStream;

/** Nodes whose GPUs are held: of two in five the holders change, of the others the devices, the verdict, the pods. */
final class TestedAllocationProjection implements TestedProjection<NodeLedger> {
    private static final String GPU = "nvidia.com/gpu";
    private static final int GPUS = 4;
    private static final int PODS = 6;

    @Override
    public Projection<NodeLedger> create() {
        return new AllocationProjection("c1");
    }

    @Override
    public TestEvent first(String node) {
        return held(node, IntStream.range(0, GPUS).toArray());
    }

    @Override
    public TestEvent next(String node, Random random) {
        return switch (Math.floorMod(node.hashCode(), 5)) {
            case 0 -> announced(random);
            case 1 -> verdict(node, random);
            case 2 -> kubernetes(random);
            default ->
                random.nextInt(3) == 0
                        ? allocated(node, random.nextInt(GPUS))
                        : held(
                                node,
                                random.ints(random.nextInt(GPUS + 1), 0, PODS).toArray());
        };
    }

    private static TestEvent held(String node, int... podByGpu) {
        var event = DevicesHeld.newBuilder().setBootId("boot-" + node).setComplete(true);
        for (int gpu = 0; gpu < podByGpu.length; gpu++) {
            String pod = "pod-" + podByGpu[gpu];
            event.addHolders(Holder.newBuilder()
                    .setNamespace("ml")
                    .setPod(pod)
                    .setPodUid("uid-" + pod)
                    .setContainer("main")
                    .setResource(GPU)
                    .addDevices(HeldDevice.newBuilder()
                            .setId(gpu(node, gpu))
                            .setDeviceUuid(gpu(node, gpu))
                            .setShortModel("H100")
                            .setShareOf(1)));
        }
        return new TestEvent(Topic.ALLOCATION, EventType.DEVICES_HELD, event.build());
    }

    private static TestEvent allocated(String node, int gpu) {
        var event = DevicesAllocated.newBuilder()
                .setBootId("boot-" + node)
                .setResource(GPU)
                .addDeviceIds(gpu(node, gpu));
        return new TestEvent(Topic.ALLOCATION, EventType.DEVICES_ALLOCATED, event.build());
    }

    private static TestEvent announced(Random random) {
        var event = NodeAnnounced.newBuilder();
        IntStream.range(0, random.nextInt(GPUS))
                .forEach(i -> event.addGpus(Gpu.newBuilder()
                        .setUuid("GPU-" + i)
                        .setModel("model-" + random.nextInt(2))
                        .setShortModel("H100")));
        return new TestEvent(Topic.INVENTORY, EventType.NODE_ANNOUNCED, event.build());
    }

    private static TestEvent verdict(String node, Random random) {
        var event = NodeVerdict.newBuilder()
                .addDevices(DeviceVerdict.newBuilder()
                        .setDeviceUuid(gpu(node, random.nextInt(GPUS)))
                        .setTrusted(random.nextBoolean()));
        return new TestEvent(Topic.VERDICTS, EventType.VERDICT_REACHED, event.build());
    }

    private static TestEvent kubernetes(Random random) {
        String pod = "pod-" + random.nextInt(PODS);
        var fact = random.nextInt(10) == 0
                ? KubernetesFact.newBuilder()
                        .setNodeDeleted(NodeDeleted.newBuilder().setUid("uid-1"))
                : KubernetesFact.newBuilder()
                        .setPod(PodFact.newBuilder()
                                .setNamespace("ml")
                                .setName(pod)
                                .setUid("uid-" + pod)
                                .setPhase("Succeeded")
                                .setFinishedAt(Timestamp.newBuilder()
                                        .setSeconds(Instant.now().getEpochSecond())));
        return new TestEvent(Topic.SIGNALS, EventType.KUBERNETES_OBSERVED, fact.build());
    }

    private static String gpu(String node, int index) {
        return "GPU-" + node + "-" + index;
    }

    /** All times of the ledger are those of its events. */
    @Override
    public Message withoutTimes(Message message) {
        return message;
    }
}
