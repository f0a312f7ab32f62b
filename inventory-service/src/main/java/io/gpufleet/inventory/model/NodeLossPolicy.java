package io.gpufleet.inventory.model;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Decides which silent nodes are lost and which are suspected only. No node is lost whose partition is not read to its end,
 * none when no node is heard, unless there is only one, and none when more than {@link #maxLostNodes} are silent: then the
 * fault may be one of the bus.
 *
 * @param silenceTimeout how long a node may be silent; also the window in which losses are counted
 * @param minLostNodes number of nodes that may be lost within the window in a fleet of any size
 * @param maxLostPercent percentage of the judged nodes that may be lost within the window
 */
public record NodeLossPolicy(Duration silenceTimeout, int minLostNodes, int maxLostPercent) {
    /** 60 s; max(5, 10 %). */
    public static final NodeLossPolicy STANDARD = new NodeLossPolicy(Duration.ofSeconds(60), 5, 10);

    /**
     * Result for the silent nodes.
     *
     * @param lost nodes to declare lost, by name
     * @param suspected silent nodes not declared lost because the fault may be one of the bus, by name
     */
    public record LossDecision(List<String> lost, List<String> suspected) {
        /** Copies the lists. */
        public LossDecision {
            lost = List.copyOf(lost);
            suspected = List.copyOf(suspected);
        }
    }

    /**
     * Decides for the nodes that are present.
     *
     * @param present their heartbeats; a silent node whose partition was not read to its end for the whole timeout is
     *     suspected, and does not count as a part of the fleet
     * @param recentLosses nodes declared lost within the last {@link #silenceTimeout}
     */
    public LossDecision decide(List<HeartbeatSilence> present, Set<String> recentLosses) {
        List<HeartbeatSilence> judged =
                present.stream().filter(node -> node.noticeable(silenceTimeout)).toList();
        List<String> silent = names(judged.stream().filter(node -> node.quiet(silenceTimeout)));
        List<String> unread =
                names(present.stream().filter(node -> node.quiet(silenceTimeout) && !node.noticeable(silenceTimeout)));
        if (silent.isEmpty()) {
            return new LossDecision(List.of(), unread);
        }
        boolean nobodyHeard = present.size() > 1 && present.stream().allMatch(node -> node.quiet(silenceTimeout));
        Set<String> others = new HashSet<>(recentLosses);
        silent.forEach(others::remove);
        boolean tooMany = silent.size() + others.size() > maxLostNodes(judged.size() + others.size());
        return nobodyHeard || tooMany
                ? new LossDecision(
                        List.of(),
                        Stream.concat(silent.stream(), unread.stream()).sorted().toList())
                : new LossDecision(silent, unread);
    }

    private static List<String> names(Stream<HeartbeatSilence> nodes) {
        return nodes.map(HeartbeatSilence::node).sorted().toList();
    }

    /** Number of nodes that may be lost within the window, in a fleet of a size. */
    public int maxLostNodes(int fleet) {
        return Math.max(minLostNodes, fleet * maxLostPercent / 100);
    }
}
