package io.gpufleet.inventory.kafka;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.inventory.app.Actor;
import io.gpufleet.inventory.app.Inventory;
import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.SnapshotSchedule;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.HealthState;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.PatchResult;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.projection.Inbound;
import io.gpufleet.wire.projection.Outbound;
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
    private final List<String> changedNodes = new ArrayList<>();
    private final Inventory inventory =
            new Inventory(NodeLossPolicy.STANDARD, new SnapshotSchedule(SnapshotSchedule.INTERVAL));
    private final InventoryProjection projection = new InventoryProjection(inventory, () -> true, new Actor() {
        @Override
        public void begin() {}

        @Override
        public void changed(String node) {
            changedNodes.add(node);
        }

        @Override
        public void end() {}
    });
    private long sequence;

    private List<Outbound> fold(Inbound event) {
        return projection.fold(event, T0);
    }

    private Inbound daemon(Topic topic, EventType type, Message payload) {
        return inbound(topic, type, new EventSource.Node("c", "n1"), payload);
    }

    private Inbound service(Topic topic, EventType type, Message payload) {
        return inbound(topic, type, new EventSource.Service("c", "some-service-0"), payload);
    }

    private Inbound inbound(Topic topic, EventType type, EventSource source, Message payload) {
        var id = new EventId(source.name(), 1, topic, ++sequence);
        return new Inbound(
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

    private static List<String> topics(List<Outbound> out) {
        return out.stream().map(it -> it.topic().suffix()).toList();
    }

    @Test
    void announcementPublishesViewAndHistoryWithItsTrace() {
        List<Outbound> out = fold(announced(announcement(a100(0))));

        assertThat(topics(out)).containsExactly("nodes", "nodes-history");
        var event = (Outbound.Event) out.getFirst();
        assertThat(((NodeView) event.payload()).getRevision()).isEqualTo(1);
        assertThat(event.traceparent()).isEqualTo("trace-1");
    }

    @Test
    void unchangedViewIsNotPublishedAgain() {
        fold(announced(announcement(a100(0))));
        fold(held());
        fold(verdict());

        assertThat(fold(announced(announcement(a100(0))))).isEmpty();
        assertThat(fold(held())).isEmpty();
        assertThat(fold(verdict())).isEmpty();
        assertThat(projection.heartbeat(Topic.TELEMETRY, "n1", T0)).isEmpty();
        assertThat(projection.tick(T0.plusSeconds(1))).isEmpty();
    }

    @Test
    void heartbeatOfAnUnannouncedNodeCreatesNoNode() {
        assertThat(projection.heartbeat(Topic.TELEMETRY, "ghost", T0)).isEmpty();
        projection.committed(List.of());
        assertThat(inventory.committed()).isEqualTo(Fleet.EMPTY);
    }

    @Test
    void chosenSettingsArePublishedOnceAndTombstonedWithTheirLabel() {
        assertThat(topics(fold(object("uid-1", "small")))).containsExactly("nodes", "nodes-history", "settings");
        assertThat(fold(object("uid-1", "small"))).isEmpty();

        List<Outbound> out = fold(object("uid-1", ""));
        assertThat(topics(out)).containsExactly("nodes", "nodes-history", "settings");
        assertThat(out.getLast()).isEqualTo(new Outbound.Tombstone(Topic.SETTINGS, "n1"));
    }

    @Test
    void emptyNodeIsTombstoned() {
        fold(object("uid-1", "small"));
        Inbound deleted = service(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setNodeDeleted(NodeDeleted.newBuilder().setUid("uid-1"))
                        .build());

        assertThat(fold(deleted))
                .containsExactly(
                        new Outbound.Tombstone(Topic.NODES, "n1"), new Outbound.Tombstone(Topic.SETTINGS, "n1"));
    }

    @Test
    void tombstonedVerdictMeansTrusted() {
        fold(announced(announcement(a100(0))));
        fold(verdict());
        assertThat(inventory.node("n1").verdicts().node()).isEqualTo("unhealthy");

        projection.foldTombstone(Topic.VERDICTS, "n1", T0);
        assertThat(inventory.node("n1").verdicts().node()).isEqualTo("trusted");
    }

    @Test
    void patchResultOfAnotherServiceIsIgnored() {
        fold(announced(announcement(a100(0))));
        var patch = PatchResult.newBuilder().setTarget("node").addConflicts("x");
        assertThat(fold(service(
                        Topic.SIGNALS,
                        EventType.KUBERNETES_OBSERVED,
                        KubernetesFact.newBuilder().setPatch(patch).build())))
                .isEmpty();
    }

    @Test
    void committedViewsReachTheActorAndReaders() {
        List<Outbound> out = fold(announced(announcement(a100(0))));
        assertThat(inventory.committed().node("n1")).isEmpty();

        projection.committed(out);
        assertThat(changedNodes).containsExactly("n1");
        assertThat(inventory.committed().node("n1")).isPresent();
    }

    @Test
    void restoredStateEqualsTheStateThatWroteTheChangelog() {
        var out = new ArrayList<Outbound>();
        out.addAll(fold(announced(announcement(a100(0)))));
        out.addAll(fold(held()));
        out.addAll(fold(verdict()));
        out.addAll(fold(object("uid-1", "small")));
        projection.committed(out);
        Fleet committed = inventory.committed();

        projection.clear();
        out.stream()
                .filter(it -> it.topic() == Topic.NODES)
                .forEach(it -> projection.restore(it.key(), ((Outbound.Event) it).payload()));

        assertThat(inventory.committed()).isEqualTo(committed);
    }

    /** Topics have no common order: any interleaving of them results in the same view. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void interleavingsOfTopicsResultInTheSameView(long seed) {
        var events = new ArrayList<>(
                List.of(announced(announcement(h100(0), a100(1))), held(), verdict(), object("uid-1", "small")));
        events.forEach(this::fold);
        var expected = inventory.node("n1").withRevision(0);

        projection.clear();
        Collections.shuffle(events, new Random(seed));
        events.forEach(this::fold);

        assertThat(inventory.node("n1").withRevision(0)).as("seed " + seed).isEqualTo(expected);
    }

    @Test
    void snapshotIsPublishedTwoHoursAfterTheLastView() {
        projection.activated(T0);
        fold(announced(announcement(a100(0))));
        fold(daemon(
                Topic.INVENTORY,
                EventType.NODE_DEPARTED,
                NodeDeparted.newBuilder().setBootId("boot-1").build()));
        Instant due = T0.plus(Duration.ofHours(2));

        assertThat(topics(projection.tick(due.minusSeconds(1)))).isEmpty();
        assertThat(topics(projection.tick(due))).containsExactly("nodes-history");
    }
}
