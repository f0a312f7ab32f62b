package io.gpufleet.inventory.model;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Single deltas of one node. */
class NodeStateTest {
    private static final NodeState ANNOUNCED =
            NodeState.unknown("n1").apply(new NodeDelta.NodeAnnounced(announcement(a100(0))));

    @Test
    void repeatedAnnouncementChangesNothing() {
        assertThat(ANNOUNCED.apply(new NodeDelta.NodeAnnounced(at(3600)))).isSameAs(ANNOUNCED);
    }

    @Test
    void everyChangeIncreasesTheRevision() {
        NodeState node = ANNOUNCED
                .apply(new NodeDelta.NodeAnnounced(announcement(h100(0))))
                .apply(new NodeDelta.NodeDeparted("boot-1", T0));

        assertThat(node.revision()).isEqualTo(3);
    }

    @Test
    void deltasOfOneEventIncreaseTheRevisionOnce() {
        NodeState lost = ANNOUNCED.apply(new NodeDelta.HeartbeatTimedOut(T0));
        NodeState back = lost.apply(
                new NodeDelta.HoldersChanged(List.of(new Holder("ns", "pod", "main", List.of("GPU-A100-0")))),
                new NodeDelta.HeartbeatReceived(T0.plusSeconds(1)));

        assertThat(back.presence()).isEqualTo(new Presence.Present(T0.plusSeconds(1)));
        assertThat(back.holders()).hasSize(1);
        assertThat(back.revision()).isEqualTo(lost.revision() + 1);
    }

    @Test
    void departureOfAnotherBootIsIgnored() {
        assertThat(ANNOUNCED.apply(new NodeDelta.NodeDeparted("boot-0", T0))).isSameAs(ANNOUNCED);
    }

    @Test
    void heartbeatAfterTheDepartureIsIgnored() {
        NodeState departed = ANNOUNCED.apply(new NodeDelta.NodeDeparted("boot-1", T0));

        assertThat(departed.apply(new NodeDelta.HeartbeatReceived(T0.plusSeconds(1))))
                .isSameAs(departed);
        assertThat(departed.apply(new NodeDelta.NodeAnnounced(at(9))).presence())
                .isEqualTo(new Presence.Present(T0.plusSeconds(9)));
    }

    @Test
    void lostNodeIsPresentAfterAHeartbeat() {
        NodeState lost = ANNOUNCED.apply(new NodeDelta.HeartbeatTimedOut(T0));

        assertThat(lost.apply(new NodeDelta.HeartbeatReceived(T0.plusSeconds(5)))
                        .presence())
                .isEqualTo(new Presence.Present(T0.plusSeconds(5)));
    }

    @Test
    void departedNodeIsRemovedWithItsNodeObjectAndPresentNodeStays() {
        NodeState present =
                node("n1", announcement(a100(0))).apply(new NodeDelta.NodeObjectObserved("uid", NodeSettings.NONE));
        NodeState departed = present.apply(new NodeDelta.NodeDeparted("boot-1", T0));
        var deleted = new NodeDelta.NodeObjectDeleted("uid");

        assertThat(present.apply(deleted).object().uid()).isEmpty();
        assertThat(present.apply(deleted).lastAnnouncement()).isPresent();
        assertThat(departed.apply(deleted).isEmpty()).isTrue();
    }

    private static Announcement at(long seconds) {
        return announcement(a100(0))
                .withMetadata(new Announcement.EventMetadata(
                        Announcement.AnnouncementReason.PERIODIC, T0.plusSeconds(seconds)));
    }
}
