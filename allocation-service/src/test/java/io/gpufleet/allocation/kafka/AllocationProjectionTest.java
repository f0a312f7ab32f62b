package io.gpufleet.allocation.kafka;

import static io.gpufleet.allocation.kafka.ProjectedNode.NODE;
import static io.gpufleet.allocation.kafka.ProjectedNode.TRACE;
import static io.gpufleet.allocation.kafka.ProjectedNode.at;
import static io.gpufleet.allocation.kafka.ProjectedNode.held;
import static io.gpufleet.allocation.kafka.ProjectedNode.usage;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.PodFact;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Inputs of the bus become node ledgers and usage, each input as a whole. */
class AllocationProjectionTest {
    private final ProjectedNode node = new ProjectedNode();

    @Test
    void closedIntervalIsPublishedWithTheStateThatItLeavesAndTheTraceOfItsCause() {
        // Given
        node.apply(node.snapshot(0, "a"));
        // When
        Effects<NodeLedger> effects = node.apply(node.snapshot(10));
        // Then
        assertThat(node.ledger().open()).isEmpty();
        assertThat(effects.outputs()).singleElement().isInstanceOfSatisfying(Outbound.Event.class, output -> {
            assertThat(output.topic()).isEqualTo(Topic.USAGE);
            assertThat(output.type()).isEqualTo(EventType.USAGE_CLOSED);
            assertThat(output.key()).isEqualTo(NODE);
            assertThat(output.subject()).isEqualTo("g0");
            assertThat(output.time()).isEqualTo(at(1_000));
            assertThat(output.traceparent()).isEqualTo(TRACE);
        });
        assertThat(usage(effects).getFirst().getGpuMilliseconds()).isEqualTo(10_000);
    }

    @Test
    void everyOutputCarriesTheTraceOfItsCause() {
        node.apply(node.snapshot(0, "a", "b"));
        node.apply(node.snapshot(20));
        var pod = PodFact.newBuilder()
                .setNamespace("ml")
                .setName("a")
                .setUid("uid-a")
                .setFinishedAt(LedgerMapper.time(at(15)));
        // When
        Effects<NodeLedger> adjusted = node.apply(node.event(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                21,
                KubernetesFact.newBuilder().setPod(pod).build()));
        node.apply(node.snapshot(30, "a", "b"));
        Effects<NodeLedger> replaced =
                node.apply(node.event(Topic.ALLOCATION, EventType.DEVICES_HELD, at(40), true, held("boot-2")));
        // Then
        List<Outbound> outputs = new ArrayList<>(adjusted.outputs());
        outputs.addAll(replaced.outputs());
        assertThat(outputs)
                .hasSize(2)
                .allSatisfy(output ->
                        assertThat(((Outbound.Event) output).traceparent()).isEqualTo(TRACE));
    }

    @Test
    void usageNamesNodeProductOwnerAndLabels() {
        node.apply(node.event(
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                0,
                NodeAnnounced.newBuilder()
                        .addGpus(Gpu.newBuilder()
                                .setUuid("g0")
                                .setModel("NVIDIA A100-SXM4-80GB")
                                .setShortModel("A100"))
                        .build()));
        node.apply(node.event(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                1,
                KubernetesFact.newBuilder()
                        .setPod(PodFact.newBuilder()
                                .setNamespace("ml")
                                .setName("a")
                                .setUid("uid-a")
                                .setOwner("Job/train")
                                .putLabels("team", "vision"))
                        .build()));
        node.apply(node.snapshot(2, "a"));
        // When
        Effects<NodeLedger> ended = node.apply(node.snapshot(20));
        // Then
        UsageInterval usage = usage(ended).getFirst();
        assertThat(usage.getNode()).isEqualTo(NODE);
        assertThat(usage.getOwner()).isEqualTo("Job/train");
        assertThat(usage.getLabelsMap()).isEqualTo(Map.of("team", "vision"));
        assertThat(usage.getProduct()).isEqualTo("NVIDIA-A100-SXM4-80GB");
    }

    @Test
    void inputWithoutAFactChangesNothing() {
        node.apply(node.snapshot(0, "a"));
        var departed = NodeDeparted.newBuilder().setBootId("boot-1").build();
        assertThat(node.projection
                        .on(node.states, node.event(Topic.INVENTORY, EventType.NODE_DEPARTED, 1, departed), at(1))
                        .outputs())
                .isEmpty();
        assertThat(node.projection
                        .on(node.states, new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(1)), at(1))
                        .isEmpty())
                .isTrue();
        assertThat(node.projection
                        .on(node.states, new Inbound.Tombstone(Topic.VERDICTS, "unknown", at(1)), at(1))
                        .isEmpty())
                .isTrue();
    }

    @Test
    void replacedMachineAndTheFactOfItsSuccessorAreOneUpdate() {
        node.apply(node.snapshot(0, "a"));
        // When
        Effects<NodeLedger> effects =
                node.apply(node.event(Topic.ALLOCATION, EventType.DEVICES_HELD, at(40), true, held("boot-2", "b")));
        // Then
        assertThat(usage(effects)).singleElement().satisfies(closed -> {
            assertThat(closed.getPod()).isEqualTo("a");
            assertThat(closed.getReason()).isEqualTo("machine-replaced");
        });
        assertThat(node.ledger().open().values())
                .singleElement()
                .satisfies(open -> assertThat(open.holding().holder().pod()).isEqualTo("b"));
    }

    @Test
    void inputThatThrowsAfterItsMachineWasReplacedLosesNoUsage() {
        node.apply(node.snapshot(0, "a"));
        NodeLedger before = node.ledger();
        Inbound.Event broken =
                node.event(Topic.ALLOCATION, EventType.DEVICES_HELD, Instant.MAX, true, held("boot-2", "b"));
        var appended = new Inbound.Event(broken.envelope(), broken.payload(), at(40), true);
        // When
        assertThatThrownBy(() -> node.apply(appended)).isInstanceOf(RuntimeException.class);
        // Then
        assertThat(node.states.byKey).isEqualTo(Map.of(NODE, before));
        assertThat(usage(node.apply(node.event(Topic.ALLOCATION, EventType.DEVICES_HELD, 41, held("boot-2", "b")))))
                .singleElement()
                .satisfies(closed -> {
                    assertThat(closed.getPod()).isEqualTo("a");
                    assertThat(closed.getGpuMilliseconds()).isEqualTo(41_000);
                });
    }

    @Test
    void writtenStateIsReadAsAnEqualOne() throws Exception {
        node.apply(node.snapshot(0, "a", "b"));
        node.apply(node.nodeDeleted(10));
        NodeLedger ledger = node.ledger();
        byte[] json = Codec.toJson(node.projection.write(NODE, ledger));
        assertThat(node.projection.read(NODE, Codec.fromJson(json, NodeHoldings.getDefaultInstance())))
                .isEqualTo(ledger);
    }

    /** Of a million intervals most of the memory would be names. */
    @Test
    void namesThatComeInSeveralInputsTakeMemoryOnce() throws Exception {
        String pod = "a";
        node.apply(node.event(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                0,
                KubernetesFact.newBuilder()
                        .setPod(PodFact.newBuilder()
                                .setNamespace("ml")
                                .setName(pod)
                                .setUid("uid-" + pod))
                        .build()));
        // When
        node.apply(node.snapshot(1, pod));
        byte[] json = Codec.toJson(node.projection.write(NODE, node.ledger()));
        NodeLedger read = node.projection.read(NODE, Codec.fromJson(json, NodeHoldings.getDefaultInstance()));
        // Then
        for (NodeLedger ledger : List.of(node.ledger(), read)) {
            String uid = ledger.closed().knownPods().getFirst().podUid();
            assertThat(ledger.open().values())
                    .singleElement()
                    .satisfies(
                            open -> assertThat(open.holding().holder().podUid()).isSameAs(uid));
        }
    }

    @Test
    void changelogIsNoOutput() {
        assertThat(node.projection.spec().outputs()).containsExactly(Topic.USAGE);
        assertThat(node.projection.spec().changelog()).isEqualTo(Topic.HOLDINGS);
    }
}
