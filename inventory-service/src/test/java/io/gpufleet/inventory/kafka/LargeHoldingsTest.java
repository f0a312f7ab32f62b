package io.gpufleet.inventory.kafka;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.migGpu;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.inventory.app.NodeTimers;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.SnapshotSchedule;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.runtime.consistency.RecordSizes;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Every share of every MIG device of a node is held, by pods of long names: the view, which has all of them, fits. */
class LargeHoldingsTest {
    private static final String NODE = "node-1";
    private static final int GPUS = 8;
    private static final int INSTANCES = 7;
    private static final int REPLICAS = 32;

    private final InventoryProjection projection = new InventoryProjection(
            new NodeTimers(NodeLossPolicy.STANDARD, new SnapshotSchedule(SnapshotSchedule.INTERVAL), _ -> {}));
    private final TestStates states = new TestStates();

    private Effects<NodeState> on(Topic topic, EventType type, Message payload) {
        var envelope = new Envelope(
                new EventId(NODE, 1, topic, 1),
                new EventSource.Node("c1", NODE),
                type,
                "",
                NODE,
                new EventTime(T0, T0, 0),
                "");
        return states.apply(projection.on(states, new Inbound.Event(envelope, payload, T0, false), T0));
    }

    private static String name(String of, int number, int length) {
        String unique = of + "-" + number + "-";
        return unique + "x".repeat(length - unique.length());
    }

    @Test
    void viewOfANodeWhoseSharesAreAllHeldFits() {
        // Given
        Gpu[] gpus = IntStream.range(0, GPUS)
                .mapToObj(index -> migGpu(index, "1g.5gb", INSTANCES))
                .toArray(Gpu[]::new);
        on(Topic.INVENTORY, EventType.NODE_ANNOUNCED, AnnouncementMapper.wire(announcement(gpus)));
        var held = DevicesHeld.newBuilder().setBootId("boot-1").setComplete(true);
        for (int share = 0; share < GPUS * INSTANCES * REPLICAS; share++) {
            String mig = name("MIG", share / REPLICAS, 40);
            held.addHolders(Holder.newBuilder()
                    .setNamespace(name("namespace", share, 63))
                    .setPod(name("pod", share, 170))
                    .setPodUid(name("uid", share, 36))
                    .setContainer(name("container", share, 63))
                    .setResource("nvidia.com/mig-1g.5gb")
                    .addDevices(HeldDevice.newBuilder()
                            .setId(mig + "::" + share % REPLICAS)
                            .setDeviceUuid(mig)
                            .setReplica(share % REPLICAS)
                            .setShareOf(REPLICAS)));
        }
        assertThat(Codec.toValue(EventType.DEVICES_HELD, held.build()).length).isBetween(900_000, 1024 * 1024);

        // When
        Effects<NodeState> effects = on(Topic.ALLOCATION, EventType.DEVICES_HELD, held.build());

        // Then
        assertThat(states.get(NODE).orElseThrow().holders()).hasSize(GPUS * INSTANCES * REPLICAS);
        assertThat(effects.outputs()).isNotEmpty();
        RecordSizes.assertThatAllFit(projection, effects);
    }
}
