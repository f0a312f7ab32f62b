package io.gpufleet.inventory.model;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.fleet;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.migGpu;
import static io.gpufleet.inventory.model.TestNodes.node;
import static io.gpufleet.inventory.model.TestNodes.withHealth;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.query.FleetQuery;
import io.gpufleet.inventory.model.query.FleetSummary;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Single deltas, filters and the summary. */
class FleetTest {
    @Test
    void repeatedAnnouncementChangesNothing() {
        Fleet fleet = Fleet.EMPTY.apply(new FleetDelta.NodeAnnounced("n1", announcement(a100(0))));
        Announcement repeated = at(announcement(a100(0)), 3600);

        assertThat(fleet.apply(new FleetDelta.NodeAnnounced("n1", repeated))).isSameAs(fleet);
    }

    @Test
    void everyChangeIncreasesTheRevision() {
        Fleet fleet = Fleet.EMPTY
                .apply(new FleetDelta.NodeAnnounced("n1", announcement(a100(0))))
                .apply(new FleetDelta.NodeAnnounced("n1", announcement(h100(0))))
                .apply(new FleetDelta.NodeDeparted("n1", "boot-1", T0));

        assertThat(fleet.node("n1").orElseThrow().revision()).isEqualTo(3);
    }

    @Test
    void departureOfAnotherBootIsIgnored() {
        Fleet fleet = Fleet.EMPTY.apply(new FleetDelta.NodeAnnounced("n1", announcement(a100(0))));

        assertThat(fleet.apply(new FleetDelta.NodeDeparted("n1", "boot-0", T0))).isSameAs(fleet);
    }

    @Test
    void heartbeatAfterTheDepartureIsIgnored() {
        Fleet departed = Fleet.EMPTY
                .apply(new FleetDelta.NodeAnnounced("n1", announcement(a100(0))))
                .apply(new FleetDelta.NodeDeparted("n1", "boot-1", T0));

        assertThat(departed.apply(new FleetDelta.HeartbeatReceived("n1", T0.plusSeconds(1))))
                .isSameAs(departed);
        assertThat(departed.apply(new FleetDelta.NodeAnnounced("n1", at(announcement(a100(0)), 9)))
                        .node("n1")
                        .orElseThrow()
                        .presence())
                .isEqualTo(new Presence.Present(T0.plusSeconds(9)));
    }

    @Test
    void movedGpuIsFoundOnTheNodeThatAnnouncedItLast() {
        Fleet fleet = fleet(node("old", announcement(a100(0))), node("new", at(announcement(a100(0)), 60)));

        assertThat(fleet.device("GPU-A100-0").orElseThrow().node().name()).isEqualTo("new");
        assertThat(fleet.forget("new").device("GPU-A100-0").orElseThrow().node().name())
                .isEqualTo("old");
    }

    @Test
    void holderHoldsAGpuByUuidReplicaAndMigInstance() {
        assertThat(holder("GPU-A100-0").holds(a100(0))).isTrue();
        assertThat(holder("GPU-A100-0::2").holds(a100(0))).isTrue();
        assertThat(holder("MIG-1-0").holds(migGpu(1, "1g.5gb", 1))).isTrue();
        assertThat(holder("GPU-A100-1").holds(a100(0))).isFalse();
    }

    private static Holder holder(String deviceId) {
        return new Holder("ns", "pod", "main", List.of(deviceId));
    }

    @Test
    void verdictOverridesLocalHealth() {
        NodeState node = node("n1", announcement(a100(0), withHealth(a100(1), Gpu.LocalHealth.UNHEALTHY)))
                .with(new Verdicts("unhealthy", Map.of("GPU-A100-0", "quarantined", "GPU-A100-1", "healthy")));

        assertThat(node.gpus().stream().map(node::healthOf)).containsExactly("quarantined", "unhealthy");
    }

    @Test
    void filtersFindNodesAndDevices() {
        Fleet fleet = fleet(
                node("n1", announcement(a100(0), withHealth(a100(1), Gpu.LocalHealth.UNHEALTHY))),
                node("n2", announcement(h100(0))),
                NodeState.unknown("n3").withNodeObject("uid", NodeSettings.NONE));

        assertThat(new FleetQuery("", "", "").nodes(fleet, "", 9).items()).hasSize(2);
        assertThat(new FleetQuery("a100", "", "").devices(fleet, "", 9).items()).hasSize(2);
        assertThat(new FleetQuery("NVIDIA-H100-80GB-HBM3", "", "")
                        .nodes(fleet, "", 9)
                        .items())
                .extracting(NodeState::name)
                .containsExactly("n2");
        assertThat(new FleetQuery("a100", "", "unhealthy").devices(fleet, "", 9).items())
                .extracting(location -> location.gpu().uuid())
                .containsExactly("GPU-A100-1");
        assertThat(new FleetQuery("", "n2", "lost").nodes(fleet, "", 9).items()).isEmpty();
    }

    @Test
    void summaryCountsNodesAndDevices() {
        FleetSummary summary = FleetSummary.of(fleet(
                node("n1", announcement(a100(0), withHealth(a100(1), Gpu.LocalHealth.UNHEALTHY))),
                node("n2", announcement(a100(0), h100(1))).with(new Presence.Departed(T0))));

        assertThat(summary.presence()).isEqualTo(Map.of("present", 1, "departed", 1));
        assertThat(summary.devices()).isEqualTo(Map.of("healthy", 3, "unhealthy", 1));
        assertThat(summary.models())
                .containsExactly(
                        new FleetSummary.ModelSummary("NVIDIA A100-SXM4-40GB", "A100", 2, 3, 2),
                        new FleetSummary.ModelSummary("NVIDIA H100 80GB HBM3", "H100", 1, 1, 1));
    }

    private static Announcement at(Announcement announcement, long seconds) {
        return announcement.withMetadata(
                new Announcement.EventMetadata(Announcement.AnnouncementReason.PERIODIC, T0.plusSeconds(seconds)));
    }
}
