package io.gpufleet.inventory.kafka;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.app.NodeTimers;
import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Presence;
import io.gpufleet.inventory.model.SnapshotSchedule;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.HealthState;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.PatchResult;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The projection of events, without a broker. */
class InventoryProjectionTest {
    private final FleetView view = new FleetView();
    private final InventoryProjection projection = new InventoryProjection(
            new NodeTimers(NodeLossPolicy.STANDARD, new SnapshotSchedule(SnapshotSchedule.INTERVAL), view::suspect));
    private final TestStates states = new TestStates();
    private long sequence;

    /** Applies an input as the engine does. */
    private Effects<NodeState> on(Inbound input) {
        return states.apply(projection.on(states, input, T0));
    }

    /** How far a node's topics are read is looked up once for all nodes of a partition number. */
    @Test
    void announcementsAndHeartbeatsHaveAsManyPartitions() {
        assertThat(Topic.TELEMETRY.partitions()).isEqualTo(Topic.INVENTORY.partitions());
    }

    private List<Effects<NodeState>> tick(Progress progress, Instant now) {
        return projection.due(states, progress, now).stream()
                .map(node -> states.apply(projection.tick(node, states, now)))
                .toList();
    }

    private NodeState node() {
        return states.get("n1").orElseThrow();
    }

    private Inbound daemon(Topic topic, EventType type, Message payload) {
        return inbound(topic, type, new EventSource.Node("c", "n1"), payload);
    }

    private Inbound service(Topic topic, EventType type, Message payload) {
        return inbound(topic, type, new EventSource.Service("c", "some-service-0"), payload);
    }

    private Inbound inbound(Topic topic, EventType type, EventSource source, Message payload) {
        var id = new EventId(source.name(), 1, topic, ++sequence);
        return new Inbound.Event(
                new Envelope(id, source, type, "", "n1", new EventTime(T0, T0, 0), "trace-1"), payload, T0, false);
    }

    private Inbound announced(Announcement announcement) {
        return daemon(Topic.INVENTORY, EventType.NODE_ANNOUNCED, AnnouncementMapper.wire(announcement));
    }

    private Inbound object(String uid, String config) {
        return service(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder()
                                .setUid(uid)
                                .putLabels("nvidia.com/device-plugin.config", config))
                        .build());
    }

    private Inbound deleted(String uid) {
        return service(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setNodeDeleted(NodeDeleted.newBuilder().setUid(uid))
                        .build());
    }

    private Inbound verdict() {
        return service(
                Topic.VERDICTS,
                EventType.VERDICT_REACHED,
                NodeVerdict.newBuilder()
                        .setState(HealthState.HEALTH_STATE_UNHEALTHY)
                        .addDevices(DeviceVerdict.newBuilder()
                                .setDeviceUuid("GPU-A100-0")
                                .setState(HealthState.HEALTH_STATE_UNHEALTHY))
                        .build());
    }

    private Inbound held() {
        return daemon(
                Topic.ALLOCATION,
                EventType.DEVICES_HELD,
                DevicesHeld.newBuilder()
                        .addHolders(Holder.newBuilder()
                                .setNamespace("ns")
                                .setPod("pod")
                                .setContainer("main")
                                .addDevices(HeldDevice.newBuilder().setId("GPU-A100-0")))
                        .build());
    }

    private static List<String> topics(Effects<NodeState> effects) {
        return effects.outputs().stream().map(it -> it.topic().suffix()).toList();
    }

    @Test
    void everyWrittenTopicIsDeclared() {
        ProjectionSpec spec = projection.spec();

        assertThat(spec.changelog()).isEqualTo(Topic.NODES);
        assertThat(spec.stateType()).isEqualTo(EventType.NODE_VIEWED);
        assertThat(spec.inputs())
                .containsExactlyInAnyOrder(Topic.INVENTORY, Topic.VERDICTS, Topic.ALLOCATION, Topic.SIGNALS);
        assertThat(spec.heartbeats()).containsExactly(Topic.TELEMETRY);
        assertThat(spec.outputs()).containsExactlyInAnyOrder(Topic.NODES_HISTORY, Topic.SETTINGS);
    }

    @Test
    void announcementChangesTheStateAndPublishesItsHistory() {
        Effects<NodeState> effects = on(announced(announcement(a100(0))));

        assertThat(topics(effects)).containsExactly("nodes-history");
        assertThat(node().revision()).isEqualTo(1);
        var event = (Outbound.Event) effects.outputs().getFirst();
        // The very message, so that it is encoded once; a second writing is made anew.
        assertThat(projection.write("n1", node())).isSameAs(event.payload());
        assertThat(projection.write("n1", node())).isEqualTo(event.payload());
    }

    @Test
    void everyOutputCarriesTheTraceOfItsCause() {
        var outputs = new ArrayList<Outbound>();
        for (Inbound input : List.of(
                announced(announcement(a100(0))),
                held(),
                verdict(),
                object("uid-1", "small"),
                object("uid-1", "big"))) {
            outputs.addAll(on(input).outputs());
        }

        assertThat(outputs)
                .hasSize(7)
                .allSatisfy(output ->
                        assertThat(((Outbound.Event) output).traceparent()).isEqualTo("trace-1"));
    }

    @Test
    void unchangedViewIsNotPublishedAgain() {
        on(announced(announcement(a100(0))));
        on(held());
        on(verdict());

        assertThat(on(announced(announcement(a100(0)))).isEmpty()).isTrue();
        assertThat(on(held()).isEmpty()).isTrue();
        assertThat(on(verdict()).isEmpty()).isTrue();
        assertThat(on(heartbeat("n1")).isEmpty()).isTrue();
        assertThat(tick(caughtUpFor(Duration.ZERO), T0.plusSeconds(1))).isEmpty();
    }

    @Test
    void heartbeatOfAnUnannouncedNodeCreatesNoNode() {
        assertThat(on(heartbeat("ghost")).isEmpty()).isTrue();
        assertThat(states.size()).isZero();
    }

    @Test
    void chosenSettingsArePublishedOnceAndTombstonedWithTheirLabel() {
        assertThat(topics(on(object("uid-1", "small")))).containsExactly("nodes-history", "settings");
        assertThat(on(object("uid-1", "small")).isEmpty()).isTrue();

        Effects<NodeState> removed = on(object("uid-1", ""));
        assertThat(topics(removed)).containsExactly("nodes-history", "settings");
        assertThat(removed.outputs().getLast()).isEqualTo(new Outbound.Tombstone(Topic.SETTINGS, "n1"));
    }

    @Test
    void nodeOfWhichNothingIsLeftIsForgottenWithItsSettings() {
        on(object("uid-1", "small"));

        assertThat(on(deleted("uid-1")))
                .isEqualTo(Effects.forget("n1", List.of(new Outbound.Tombstone(Topic.SETTINGS, "n1"))));
    }

    @Test
    void nodeWithoutSettingsIsForgottenWithoutATombstoneOfSettings() {
        on(object("uid-1", ""));

        assertThat(on(deleted("uid-1"))).isEqualTo(Effects.forget("n1", List.of()));
    }

    @Test
    void tombstonedVerdictMeansTrusted() {
        on(announced(announcement(a100(0))));
        on(verdict());
        assertThat(node().verdicts().node()).isEqualTo("unhealthy");

        on(new Inbound.Tombstone(Topic.VERDICTS, "n1", T0));
        assertThat(node().verdicts().node()).isEqualTo("trusted");
    }

    @Test
    void patchResultOfAnotherServiceIsIgnored() {
        on(announced(announcement(a100(0))));
        var patch = PatchResult.newBuilder().setTarget("node").addConflicts("x");
        assertThat(on(service(
                                Topic.SIGNALS,
                                EventType.KUBERNETES_OBSERVED,
                                KubernetesFact.newBuilder().setPatch(patch).build()))
                        .isEmpty())
                .isTrue();
    }

    @Test
    void stateThatIsReadEqualsTheStateThatWasWritten() {
        for (Inbound input : List.of(announced(announcement(a100(0))), held(), verdict(), object("uid-1", "small"))) {
            on(input);
            assertThat(projection.read("n1", projection.write("n1", node()))).isEqualTo(node());
        }
    }

    /** Topics have no common order: any interleaving of them results in the same view. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void interleavingsOfTopicsResultInTheSameView(long seed) {
        var events = new ArrayList<>(
                List.of(announced(announcement(h100(0), a100(1))), held(), verdict(), object("uid-1", "small")));
        events.forEach(this::on);
        var expected = node().withRevision(0);

        states.clear();
        Collections.shuffle(events, new Random(seed));
        events.forEach(this::on);

        assertThat(node().withRevision(0)).as("seed " + seed).isEqualTo(expected);
    }

    @Test
    void snapshotIsPublishedTwoHoursAfterTheLastView() {
        projection.restarted(states, T0);
        on(announced(announcement(a100(0))));
        on(daemon(
                Topic.INVENTORY,
                EventType.NODE_DEPARTED,
                NodeDeparted.newBuilder().setBootId("boot-1").build()));
        Instant due = T0.plus(Duration.ofHours(2));

        assertThat(tick(caughtUpFor(Duration.ZERO), due.minusSeconds(1))).isEmpty();
        List<Effects<NodeState>> snapshots = tick(caughtUpFor(Duration.ZERO), due);
        assertThat(snapshots).hasSize(1);
        assertThat(topics(snapshots.getFirst())).containsExactly("nodes-history");
        assertThat(snapshots.getFirst().states()).isEmpty();
    }

    @Test
    void silentNodeIsLostWhileItsTelemetryPartitionIsReadToTheEnd() {
        projection.restarted(states, T0);
        on(announced(announcement(a100(0))));

        // A tick a second: a longer pause would begin the minute anew.
        for (int second = 1; second <= 62; second++) {
            assertThat(tick(caughtUpFor(Duration.ZERO), T0.plusSeconds(second))).isEmpty();
        }
        List<Effects<NodeState>> lost = tick(caughtUpFor(Duration.ofSeconds(63)), T0.plusSeconds(63));

        assertThat(lost).hasSize(1);
        assertThat(topics(lost.getFirst())).containsExactly("nodes-history");
        assertThat(node().presence()).isEqualTo(new Presence.Lost(T0.plusSeconds(63)));
    }

    @Test
    void nodeThatIsGoneForTheRetentionIsForgottenWithItsSettings() {
        projection.restarted(states, T0);
        on(announced(announcement(a100(0))));
        on(object("uid-1", "small"));
        on(daemon(
                Topic.INVENTORY,
                EventType.NODE_DEPARTED,
                NodeDeparted.newBuilder().setBootId("boot-1").build()));

        assertThat(tick(
                        caughtUpFor(Duration.ZERO),
                        T0.plus(NodeTimers.RETENTION).plusSeconds(1)))
                .containsExactly(Effects.forget("n1", List.of(new Outbound.Tombstone(Topic.SETTINGS, "n1"))));
        assertThat(states.size()).isZero();
    }

    private static Inbound heartbeat(String node) {
        return new Inbound.Heartbeat(Topic.TELEMETRY, node, T0);
    }

    private static Progress caughtUpFor(Duration telemetry) {
        return new Progress() {
            @Override
            public Duration caughtUpFor(Topic topic, String key, Instant now) {
                return topic == Topic.TELEMETRY ? telemetry : Duration.ofDays(1);
            }

            @Override
            public boolean caughtUp(Instant now) {
                return true;
            }
        };
    }
}
