package io.gpufleet.inventory.model;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.fleet;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.indexed;
import static io.gpufleet.inventory.model.TestNodes.migGpu;
import static io.gpufleet.inventory.model.TestNodes.node;
import static io.gpufleet.inventory.model.TestNodes.withHealth;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.query.FleetQuery;
import io.gpufleet.inventory.model.query.IndexedFleet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The device index, filters and the summary. */
class FleetTest {
    @Test
    void movedGpuIsFoundOnTheNodeThatAnnouncedItLast() {
        Fleet fleet = fleet(node("old", announcement(a100(0))), node("new", at(announcement(a100(0)), 60)));

        assertThat(fleet.device("GPU-A100-0").orElseThrow().node().name()).isEqualTo("new");
        assertThat(fleet.without("new")
                        .device("GPU-A100-0")
                        .orElseThrow()
                        .node()
                        .name())
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
        IndexedFleet fleet = indexed(
                node("n1", announcement(a100(0), withHealth(a100(1), Gpu.LocalHealth.UNHEALTHY))),
                node("n2", announcement(h100(0))),
                NodeState.unknown("n3").withNodeObject("uid", NodeSettings.NONE));

        assertThat(FleetQuery.ALL.nodes(fleet, "", 9).items()).hasSize(2);
        assertThat(FleetQuery.ofModel("a100").devices(fleet, "", 9).items()).hasSize(2);
        assertThat(FleetQuery.ofModel("NVIDIA-H100-80GB-HBM3")
                        .nodes(fleet, "", 9)
                        .items())
                .extracting(NodeState::name)
                .containsExactly("n2");
        assertThat(new FleetQuery("a100", "", "unhealthy", "", "")
                        .devices(fleet, "", 9)
                        .items())
                .extracting(location -> location.gpu().uuid())
                .containsExactly("GPU-A100-1");
        assertThat(new FleetQuery("", "n2", "lost", "", "").nodes(fleet, "", 9).items())
                .isEmpty();
    }

    private static Announcement at(Announcement announcement, long seconds) {
        return announcement.withMetadata(
                new Announcement.EventMetadata(Announcement.AnnouncementReason.PERIODIC, T0.plusSeconds(seconds)));
    }
}
