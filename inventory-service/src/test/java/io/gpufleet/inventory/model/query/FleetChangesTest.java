package io.gpufleet.inventory.model.query;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Verdicts;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FleetChangesTest {
    private static final NodeState N1 = node("n1", announcement(a100(0)));
    private static final NodeState N2 = node("n2", announcement(a100(1)));
    private static final NodeState N3 = node("n3", announcement(a100(2)));

    @Test
    void namesWhatIsNewWhatChangedAndWhatIsGone() {
        // Given
        Fleet before = Fleet.of(List.of(N1, N2));
        NodeState suspected = N2.with(new Verdicts("suspect", Map.of()));

        // When
        var changes =
                FleetChanges.between(before, before.with(suspected).with(N3).without("n1"));

        // Then
        assertThat(changes.changed()).containsExactly(suspected, N3);
        assertThat(changes.removed()).containsExactly("n1");
        assertThat(changes.size()).isEqualTo(3);
    }

    @Test
    void imageDoesNotDifferFromItself() {
        Fleet fleet = Fleet.of(List.of(N1, N2));

        assertThat(FleetChanges.between(fleet, fleet).size()).isZero();
    }

    @Test
    void nodeThatWasNeverAnnouncedIsNoChange() {
        Fleet before = Fleet.of(List.of(N1));
        Fleet after = before.with(NodeState.unknown("n2"));

        assertThat(FleetChanges.between(before, after).size()).isZero();
        assertThat(FleetChanges.between(after, before).size()).isZero();
    }
}
