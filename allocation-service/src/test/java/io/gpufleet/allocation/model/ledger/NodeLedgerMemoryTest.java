package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.BOOT;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.holding;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.podFinished;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.holding.Holding;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Closed intervals that a node remembers, so that late facts correct them: enough of them, and not without bound. */
class NodeLedgerMemoryTest {
    /** Eight GPUs of ten replicas each. */
    private static final int SHARES = 80;

    private final TestNodeLedger node = new TestNodeLedger();

    private static Holding[] pods(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> holding("p" + i, "u" + i, "main", "GPU-" + i / 10 + "::" + i % 10, 10))
                .toArray(Holding[]::new);
    }

    @Test
    @DisplayName("ends of pods correct all intervals that one snapshot closed, however many")
    void lateEndsCorrectManyIntervals() {
        // Given
        node.fold(node.held(0, pods(SHARES)), node.held(100));
        // When
        for (int i = 0; i < SHARES; i++) {
            node.fold(podFinished("p" + i, "u" + i, 90));
        }
        // Then
        assertThat(node.adjusted().size()).isEqualTo(SHARES);
        assertThat(node.millisByPod().values()).hasSize(SHARES).containsOnly(9_000L);
    }

    @Test
    @DisplayName("a node that comes back proves all that it held, also after an incomplete snapshot")
    void returnOfTheNodeProvesManyIntervals() {
        // Given
        node.fold(node.held(0, pods(SHARES)));
        node.fold(new LedgerFact.MachineGone(at(1_000), IntervalEndReason.NODE_LOST));
        // When
        node.fold(node.heldAfterBoot(BOOT, 2_000, false));
        node.fold(node.held(2_010, pods(SHARES)), node.held(3_000));
        // Then
        assertThat(node.millis(IntervalQuality.UNREACHABLE)).isZero();
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(SHARES * 300_000L);
    }

    @Test
    @DisplayName("an end that is known hours later does not prolong an interval before a silence")
    void lateEndDoesNotProlongWhatWasContinued() {
        // Given
        Holding holding = holding("p", "u", "g0");
        node.fold(node.held(0, holding), new LedgerFact.DaemonSilent(at(10)));
        node.fold(node.held(300, holding), node.held(310));
        // When the last piece is forgotten
        node.fold(node.held(20_000), podFinished("p", "u", 309));
        // Then
        assertThat(node.millisByPod()).containsExactly(Map.entry("p", 310_000L));
    }

    private int bytes() {
        return node.ledger().closed().intervals().stream()
                .mapToInt(ClosedUsageInterval::bytes)
                .sum();
    }

    @Test
    @DisplayName(
            "of a node that closes without pause, no more than 320 KiB of intervals are remembered, and 24 KiB of older ones")
    void memoryIsBounded() {
        for (int i = 0; i < 40; i++) {
            node.fold(node.held(2 * i, pods(SHARES)), node.held(2 * i + 1));
        }
        assertThat(bytes()).isBetween(319 * 1_024, 320 * 1_024);
        // When
        node.fold(node.held(700));
        // Then
        assertThat(bytes()).isBetween(23 * 1_024, 24 * 1_024);
    }

    @Test
    @DisplayName("long names of pods take no more memory")
    void memoryIsBoundedForLongNames() {
        for (int i = 0; i < 40; i++) {
            Holding[] pods = new Holding[SHARES];
            for (int pod = 0; pod < SHARES; pod++) {
                pods[pod] = holding(
                        "p".repeat(240) + pod, "u" + pod, "c".repeat(63), "GPU-" + pod / 10 + "::" + pod % 10, 10);
            }
            node.fold(node.held(2 * i, pods), node.held(2 * i + 1));
        }
        assertThat(bytes()).isBetween(319 * 1_024, 320 * 1_024);
    }
}
