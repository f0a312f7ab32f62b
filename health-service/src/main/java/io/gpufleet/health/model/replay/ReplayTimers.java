package io.gpufleet.health.model.replay;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;

/** When time alone changes each node next, of the whole fleet in the order of time. */
final class ReplayTimers {
    /** A change of a node by time alone. */
    record Due(Instant at, String node) {}

    private final NavigableSet<Due> queue =
            new TreeSet<>(Comparator.comparing(Due::at).thenComparing(Due::node));
    private final Map<String, Due> byNode = new HashMap<>();
    private final Map<String, Integer> ticks = new HashMap<>();
    private final Map<String, Instant> last = new HashMap<>();

    /** A signal of the node is met: it may change by time so many times again. */
    void signal(String node) {
        ticks.remove(node);
        last.remove(node);
    }

    /** The node changes then; not set for a node that time does not bring further, or too many times. */
    void set(String node, Instant at) {
        clear(node);
        boolean further = !last.containsKey(node) || at.isAfter(last.getOrDefault(node, Instant.MIN));
        if (further && ticks.getOrDefault(node, 0) < ReplayedNodes.MAX_TICKS) {
            Due due = new Due(at, node);
            byNode.put(node, due);
            queue.add(due);
        }
    }

    /** The node does not change by time. */
    void clear(String node) {
        Due due = byNode.remove(node);
        if (due != null) {
            queue.remove(due);
        }
    }

    /** Takes the earliest change before an instant. */
    Optional<Due> next(Instant until) {
        if (queue.isEmpty() || !queue.getFirst().at().isBefore(until)) {
            return Optional.empty();
        }
        Due due = queue.getFirst();
        clear(due.node());
        ticks.merge(due.node(), 1, Integer::sum);
        last.put(due.node(), due.at());
        return Optional.of(due);
    }
}
