package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.holding;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Intervals by device: change of device, shares; the display names carry the numbers of the README. */
class NodeLedgerDeviceTest {
    private final TestNodeLedger node = new TestNodeLedger();

    @Test
    @DisplayName("case 13: pod returning on another device has two intervals")
    void podReturningOnAnotherDeviceHasTwoIntervals() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(node.allocated(10, "g1"), node.held(11, holding("a", "u1", "g1")), node.held(20));
        // Then
        assertThat(node.closed())
                .extracting(closed -> closed.holding().device().id() + " " + closed.gpuMillis())
                .containsExactly("g0 11000", "g1 10000");
    }

    @Test
    @DisplayName("case 13: stale PodResources entry does not hide new holder")
    void stalePodResourcesEntryDoesNotHideNewHolder() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("old", "u1", "g0")));
        // When
        node.fold(
                node.allocated(10, "g0"),
                node.held(11, holding("old", "u1", "g0"), holding("new", "u2", "g0")),
                node.held(20));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("old", 10_000L, "new", 10_000L));
    }

    @Test
    @DisplayName("case 14: shares of one device add up to one")
    void sharesOfOneDeviceAddUpToOne() {
        // Given
        node.fold(node.held(0, holding("a", "u1", "main", "g0::0", 2), holding("b", "u2", "main", "g0::1", 2)));
        // When
        node.fold(node.held(100));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 50_000L, "b", 50_000L));
    }

    @Test
    @DisplayName("case 15: changed sharing splits interval")
    void changedSharingSplitsInterval() {
        // Given
        node.fold(node.held(0, holding("a", "u1", "main", "g0", 1)));
        // When
        node.fold(node.held(10, holding("a", "u1", "main", "g0", 2)), node.held(20));
        // Then
        assertThat(node.closed()).extracting(ClosedUsageInterval::gpuMillis).containsExactly(10_000L, 5_000L);
        assertThat(node.closed().getFirst().reason()).isEqualTo(IntervalEndReason.DEVICE_CHANGED);
    }
}
