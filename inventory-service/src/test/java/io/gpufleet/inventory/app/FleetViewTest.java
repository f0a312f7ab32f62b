package io.gpufleet.inventory.app;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.node;
import static io.gpufleet.inventory.model.TestNodes.withHealth;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.Presence;
import io.gpufleet.inventory.model.Verdicts;
import io.gpufleet.inventory.model.query.FleetQuery;
import io.gpufleet.inventory.model.query.FleetSummary;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What readers see of the committed states. */
class FleetViewTest {
    private final FleetView view = new FleetView();

    @Test
    void committedNodesAndTheirDevicesAreShownUntilTheyAreGivenUp() {
        view.commit(List.of(node("n1", announcement(a100(0))), node("n2", announcement(h100(0)))), List.of());
        assertThat(view.fleet().device("GPU-A100-0").orElseThrow().node().name())
                .isEqualTo("n1");

        view.commit(List.of(node("n2", announcement(a100(1)))), List.of("n1"));
        assertThat(view.fleet().node("n1")).isEmpty();
        assertThat(view.fleet().device("GPU-A100-0")).isEmpty();
        assertThat(view.fleet().device("GPU-A100-1").orElseThrow().node().name())
                .isEqualTo("n2");
    }

    @Test
    void countsFollowEveryCommit() {
        view.commit(List.of(node("n1", announcement(a100(0))), node("n2", announcement(h100(0)))), List.of());
        view.commit(List.of(node("n2", announcement(a100(1), a100(2)))), List.of());
        assertThat(view.summary().presence()).isEqualTo(Map.of("present", 2));
        assertThat(view.summary().devices()).isEqualTo(Map.of("healthy", 3));

        view.commit(List.of(), List.of("n1", "unknown"));
        assertThat(view.summary().presence()).isEqualTo(Map.of("present", 1));
        assertThat(view.summary().devices()).isEqualTo(Map.of("healthy", 2));

        view.clear();
        assertThat(view.summary().devices()).isEmpty();
    }

    @Test
    void summaryCountsNodesDevicesAndModels() {
        view.commit(
                List.of(
                        node("n1", announcement(a100(0), withHealth(a100(1), Gpu.LocalHealth.UNHEALTHY)))
                                .withHolders(List.of(new Holder("ns", "pod", "main", List.of("GPU-A100-0")))),
                        node("n2", announcement(a100(2), h100(1))).with(new Presence.Departed(T0))),
                List.of());

        assertThat(view.summary())
                .isEqualTo(new FleetSummary(
                        2,
                        Map.of("present", 1, "departed", 1),
                        Map.of("healthy", 3, "unhealthy", 1),
                        List.of(
                                new FleetSummary.ModelSummary("NVIDIA A100-SXM4-40GB", "A100", 2, 3, 2),
                                new FleetSummary.ModelSummary("NVIDIA H100 80GB HBM3", "H100", 1, 1, 1)),
                        1));
    }

    @Test
    void movedGpuCountsOnceWhereItWasAnnouncedLast() {
        // Given
        view.commit(List.of(node("old", announcement(a100(0), a100(1)))), List.of());
        // When
        Announcement later = announcement(a100(1))
                .withMetadata(
                        new Announcement.EventMetadata(Announcement.AnnouncementReason.START, T0.plusSeconds(60)));
        view.commit(
                List.of(node("new", later).with(new Verdicts("trusted", Map.of("GPU-A100-1", "suspect")))), List.of());
        // Then
        assertThat(view.summary().devices()).isEqualTo(Map.of("healthy", 1, "suspect", 1));
        assertThat(FleetQuery.ALL.devices(view.indexed(), "", 9).items())
                .extracting(location -> location.node().name())
                .containsExactly("new", "old");

        view.commit(List.of(), List.of("new"));
        assertThat(view.summary().devices()).isEqualTo(Map.of("healthy", 2));
        assertThat(view.summary().models().getFirst().nodes()).isEqualTo(1);
    }

    @Test
    void suspectedNodesStandApartFromThePresentAndTheLost() {
        view.commit(
                List.of(
                        node("n1", announcement(a100(0))),
                        node("n2", announcement(a100(1))),
                        node("n3", announcement(a100(2))).with(new Presence.Lost(T0))),
                List.of());
        view.suspect(List.of("n2"));

        assertThat(view.summary().presence()).isEqualTo(Map.of("present", 1, "suspected", 1, "lost", 1));
    }

    @Test
    void clearedViewIsEmptyAndSuspectsNobody() {
        view.commit(List.of(node("n1", announcement(a100(0)))), List.of());
        view.suspect(List.of("n1"));

        view.clear();

        assertThat(view.fleet()).isEqualTo(Fleet.EMPTY);
        assertThat(view.suspected()).isEmpty();
    }
}
