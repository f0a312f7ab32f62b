package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.HolderAtFault;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.runtime.consistency.RecordSizes;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is nearly as large as a topic takes is acted upon: what follows from it is not larger. */
class LargeFactsTest {
    private static final String NODE = "node-1";
    private static final int NEARLY_A_MEGABYTE = 1_000_000;

    private final HealthProjection projection = new HealthProjection(
            new HealthMachine(PolicyFile.load("nvidia"), Duration.ofMinutes(10)), DisruptionBudgets.NONE);
    private final ProjectedNodes nodes = new ProjectedNodes(projection, NodeScenario.START);

    @BeforeEach
    void eightGpus() {
        var announced = NodeAnnounced.newBuilder().setBootId("boot-1");
        for (int gpu = 0; gpu < 8; gpu++) {
            announced.addGpus(Gpu.newBuilder().setUuid("gpu-" + gpu));
        }
        nodes.daemon(NODE, Topic.INVENTORY, EventType.NODE_ANNOUNCED, announced.build());
    }

    private static String name(String of, int number, int length) {
        String unique = of + "-" + number + "-";
        return unique + "x".repeat(length - unique.length());
    }

    @Test
    void faultWithAMegabyteOfHoldersTaintsItsNode() {
        var fact = FaultObserved.newBuilder()
                .setBootId("boot-1")
                .setFault(Fault.newBuilder()
                        .setDeviceUuid("gpu-0")
                        .setKind(FaultKind.FAULT_KIND_XID)
                        .setXid(79));
        for (int pod = 0; Codec.toValue(EventType.FAULT_OBSERVED, fact.build()).length < NEARLY_A_MEGABYTE; pod++) {
            for (int i = 0; i < 100; i++) {
                fact.addHolders(HolderAtFault.newBuilder()
                        .setNamespace(name("namespace", pod, 63))
                        .setPod(name("pod", pod * 100 + i, 253))
                        .setPodUid(name("uid", pod * 100 + i, 36))
                        .setContainer(name("container", i, 63)));
            }
        }

        Effects<NodeState> effects = nodes.daemon(NODE, Topic.HEALTH, EventType.FAULT_OBSERVED, fact.build());

        assertThat(nodes.get(NODE).orElseThrow().tainted()).isTrue();
        RecordSizes.assertThatAllFit(projection, effects);
    }

    @Test
    void sharesOfEveryMigDeviceAreKept() {
        var held = DevicesHeld.newBuilder().setBootId("boot-1").setComplete(true);
        for (int share = 0; share < 8 * 7 * 32; share++) {
            held.addHolders(io.gpufleet.proto.allocation.v1.Holder.newBuilder()
                    .setNamespace(name("namespace", share, 63))
                    .setPod(name("pod", share, 253))
                    .setPodUid(name("uid", share, 36))
                    .addDevices(HeldDevice.newBuilder()
                            .setDeviceUuid(name("MIG", share / 32, 60))
                            .setId(name("MIG", share, 64))));
        }
        assertThat(Codec.toValue(EventType.DEVICES_HELD, held.build()).length).isBetween(900_000, 1024 * 1024);

        Effects<NodeState> effects = nodes.daemon(NODE, Topic.ALLOCATION, EventType.DEVICES_HELD, held.build());

        assertThat(nodes.get(NODE).orElseThrow().acting().holdings().holders()).hasSize(8 * 7 * 32);
        RecordSizes.assertThatAllFit(projection, effects);
    }
}
