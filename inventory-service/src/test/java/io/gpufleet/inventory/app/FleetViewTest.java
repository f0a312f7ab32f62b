package io.gpufleet.inventory.app;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.Fleet;
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
        assertThat(view.counts().nodesByPresence()).isEqualTo(Map.of("present", 2));
        assertThat(view.counts().devicesByHealth()).isEqualTo(Map.of("healthy", 3));

        view.commit(List.of(), List.of("n1", "unknown"));
        assertThat(view.counts().nodesByPresence()).isEqualTo(Map.of("present", 1));
        assertThat(view.counts().devicesByHealth()).isEqualTo(Map.of("healthy", 2));

        view.clear();
        assertThat(view.counts().devicesByHealth()).isEmpty();
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
