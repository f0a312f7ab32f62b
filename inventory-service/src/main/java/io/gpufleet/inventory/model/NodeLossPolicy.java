package io.gpufleet.inventory.model;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * Decides which silent nodes are lost. None is lost when all nodes are silent, unless there is only one, nor when more than
 * {@link #maxLostNodes} are: then a fault of the bus is suspected.
 *
 * @param silenceTimeout how long a node may be silent; also the window in which losses are counted
 * @param minLostNodes number of nodes that may be lost within the window in a fleet of any size
 * @param maxLostPercent percentage of the present nodes that may be lost within the window
 */
public record NodeLossPolicy(Duration silenceTimeout, int minLostNodes, int maxLostPercent) {
    /** 60 s; max(5, 10 %). */
    public static final NodeLossPolicy STANDARD = new NodeLossPolicy(Duration.ofSeconds(60), 5, 10);

    /**
     * Result for the silent nodes.
     *
     * @param lost nodes to declare lost, by name
     * @param suspected silent nodes not declared lost because the bus is suspected, by name
     */
    public record LossDecision(List<String> lost, List<String> suspected) {
        /** Copies the lists. */
        public LossDecision {
            lost = List.copyOf(lost);
            suspected = List.copyOf(suspected);
        }

        /** True when so many nodes are silent that the bus is suspected. */
        public boolean busFault() {
            return !suspected.isEmpty();
        }
    }

    /**
     * Decides for the nodes that are present.
     *
     * @param present their names
     * @param lastHeartbeats time of the last heartbeat by node, by the clock of this replica; a missing node sent none
     *     since this replica became active
     * @param recentLosses number of nodes declared lost within the last {@link #silenceTimeout}
     */
    public LossDecision decide(
            ConsumerProgress progress, List<String> present, Map<String, Instant> lastHeartbeats, int recentLosses) {
        List<String> silent = present.stream()
                .filter(node -> progress.silenceSince(lastHeartbeats.getOrDefault(node, Instant.MIN))
                                .compareTo(silenceTimeout)
                        > 0)
                .sorted()
                .toList();
        if (silent.isEmpty()) {
            return new LossDecision(List.of(), List.of());
        }
        boolean allSilent = present.size() > 1 && silent.size() == present.size();
        boolean tooMany = silent.size() + recentLosses > maxLostNodes(present.size() + recentLosses);
        return allSilent || tooMany ? new LossDecision(List.of(), silent) : new LossDecision(silent, List.of());
    }

    /** Number of nodes that may be lost within the window, in a fleet of a size. */
    public int maxLostNodes(int fleet) {
        return Math.max(minLostNodes, fleet * maxLostPercent / 100);
    }
}
