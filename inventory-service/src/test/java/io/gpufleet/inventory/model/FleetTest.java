package io.gpufleet.inventory.model;

import static io.gpufleet.inventory.model.Machines.T0;
import static io.gpufleet.inventory.model.Machines.a100;
import static io.gpufleet.inventory.model.Machines.announcement;
import static io.gpufleet.inventory.model.Machines.fleet;
import static io.gpufleet.inventory.model.Machines.h100;
import static io.gpufleet.inventory.model.Machines.in;
import static io.gpufleet.inventory.model.Machines.node;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** What single changes do to the image. */
class FleetTest {
    @Test
    void repeatedAnnouncementChangesNothing() {
        Fleet fleet = Fleet.EMPTY.apply(new FleetDelta.Announced("n1", announcement(a100(0))));
        Announcement repeated = at(announcement(a100(0)), 3600);

        assertThat(fleet.apply(new FleetDelta.Announced("n1", repeated))).isSameAs(fleet);
    }

    @Test
    void everyChangeCountsTheRevisionUp() {
        Fleet fleet = Fleet.EMPTY
                .apply(new FleetDelta.Announced("n1", announcement(a100(0))))
                .apply(new FleetDelta.Announced("n1", announcement(h100(0))))
                .apply(new FleetDelta.Departed("n1", "boot-1", T0));

        assertThat(fleet.node("n1").orElseThrow().revision()).isEqualTo(3);
    }

    @Test
    void departureOfAnotherBootIsOldNews() {
        Fleet fleet = Fleet.EMPTY.apply(new FleetDelta.Announced("n1", announcement(a100(0))));

        assertThat(fleet.apply(new FleetDelta.Departed("n1", "boot-0", T0))).isSameAs(fleet);
    }

    @Test
    void heartbeatAfterTheDepartureDoesNotBringANodeBack() {
        Fleet departed = Fleet.EMPTY
                .apply(new FleetDelta.Announced("n1", announcement(a100(0))))
                .apply(new FleetDelta.Departed("n1", "boot-1", T0));

        assertThat(departed.apply(new FleetDelta.Heard("n1", T0.plusSeconds(1))))
                .isSameAs(departed);
        assertThat(departed.apply(new FleetDelta.Announced("n1", at(announcement(a100(0)), 9)))
                        .node("n1")
                        .orElseThrow()
                        .presence())
                .isEqualTo(new Presence.Present(T0.plusSeconds(9)));
    }

    @Test
    void boardThatMovedIsWhereItWasAnnouncedLast() {
        Fleet fleet = fleet(node("old", announcement(a100(0))), node("new", at(announcement(a100(0)), 60)));

        assertThat(fleet.device("GPU-A100-0").orElseThrow().node().name()).isEqualTo("new");
        assertThat(fleet.forget("new").device("GPU-A100-0").orElseThrow().node().name())
                .isEqualTo("old");
    }

    @Test
    void verdictOutweighsWhatTheDaemonThinks() {
        NodeImage node = node("n1", announcement(a100(0), in(a100(1), Gpu.LocalHealth.UNHEALTHY)))
                .with(new Verdicts("unhealthy", Map.of("GPU-A100-0", "quarantined", "GPU-A100-1", "healthy")));

        assertThat(node.gpus().stream().map(node::healthOf)).containsExactly("quarantined", "unhealthy");
    }

    @Test
    void filtersFindNodesAndDevices() {
        Fleet fleet = fleet(
                node("n1", announcement(a100(0), in(a100(1), Gpu.LocalHealth.UNHEALTHY))),
                node("n2", announcement(h100(0))),
                NodeImage.unknown("n3").ofObject("uid", NodeSettings.NONE));

        assertThat(new FleetQuery("", "", "").nodes(fleet, "", 9).items()).hasSize(2);
        assertThat(new FleetQuery("a100", "", "").devices(fleet, "", 9).items()).hasSize(2);
        assertThat(new FleetQuery("NVIDIA-H100-80GB-HBM3", "", "")
                        .nodes(fleet, "", 9)
                        .items())
                .extracting(NodeImage::name)
                .containsExactly("n2");
        assertThat(new FleetQuery("a100", "", "unhealthy").devices(fleet, "", 9).items())
                .extracting(place -> place.gpu().uuid())
                .containsExactly("GPU-A100-1");
        assertThat(new FleetQuery("", "n2", "lost").nodes(fleet, "", 9).items()).isEmpty();
    }

    @Test
    void censusCountsWhatIsThere() {
        Census census = Census.of(fleet(
                node("n1", announcement(a100(0), in(a100(1), Gpu.LocalHealth.UNHEALTHY))),
                node("n2", announcement(a100(0), h100(1))).with(new Presence.Departed(T0))));

        assertThat(census.presence()).isEqualTo(Map.of("present", 1, "departed", 1));
        assertThat(census.devices()).isEqualTo(Map.of("healthy", 3, "unhealthy", 1));
        assertThat(census.models())
                .containsExactly(
                        new Census.Model("NVIDIA A100-SXM4-40GB", "A100", 2, 3, 2),
                        new Census.Model("NVIDIA H100 80GB HBM3", "H100", 1, 1, 1));
    }

    private static Announcement at(Announcement whole, long seconds) {
        return new Announcement(
                whole.bootId(),
                Announcement.Reason.PERIODIC,
                whole.daemonVersion(),
                whole.deviceSource(),
                whole.driverState(),
                whole.driverVersion(),
                whole.cudaVersion(),
                whole.kernelVersion(),
                whole.machine(),
                whole.gpus(),
                whole.resources(),
                whole.installerState(),
                whole.mpsStates(),
                whole.migStrategy(),
                T0.plusSeconds(seconds));
    }
}
