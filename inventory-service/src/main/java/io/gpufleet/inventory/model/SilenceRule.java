package io.gpufleet.inventory.model;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * When silence is a loss. Silence of the bus is none: where there are other nodes, one of them must have been heard
 * meanwhile, and more losses at once than {@link #most} are the bus's fault and nobody's loss.
 *
 * @param allowed how long a node may be silent; also the window in which losses are counted
 * @param least so many nodes may be lost within the window in any fleet
 * @param percent of the present nodes that may be lost within the window
 */
public record SilenceRule(Duration allowed, int least, int percent) {
    /** 60 s; max(5, 10 %). */
    public static final SilenceRule STANDARD = new SilenceRule(Duration.ofSeconds(60), 5, 10);

    /**
     * What silence means now.
     *
     * @param lost nodes to be called lost, by name
     * @param suspected silent nodes that are not called lost because the bus is suspected, by name
     */
    public record Ruling(List<String> lost, List<String> suspected) {
        /** Copies the lists. */
        public Ruling {
            lost = List.copyOf(lost);
            suspected = List.copyOf(suspected);
        }

        /** True when so many are silent that the bus is to blame. */
        public boolean busFault() {
            return !suspected.isEmpty();
        }
    }

    /**
     * Rules on the nodes that are present.
     *
     * @param present their names
     * @param lastHeard when each was heard, by our clock; a missing one was not heard since we listen
     * @param lostWithinWindow how many were called lost within the last {@link #allowed}
     */
    public Ruling rule(
            Attention attention, List<String> present, Map<String, Instant> lastHeard, int lostWithinWindow) {
        List<String> silent = present.stream()
                .filter(node -> attention
                                .silenceSince(lastHeard.getOrDefault(node, Instant.MIN))
                                .compareTo(allowed)
                        > 0)
                .sorted()
                .toList();
        if (silent.isEmpty()) {
            return new Ruling(List.of(), List.of());
        }
        boolean nobodyHeard = present.size() > 1 && silent.size() == present.size();
        boolean tooMany = silent.size() + lostWithinWindow > most(present.size() + lostWithinWindow);
        return nobodyHeard || tooMany ? new Ruling(List.of(), silent) : new Ruling(silent, List.of());
    }

    /** So many of a fleet may be lost within the window. */
    public int most(int fleet) {
        return Math.max(least, fleet * percent / 100);
    }
}
