package io.gpufleet.inventory.model;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * When the view of each node is due for the history again although it did not change, so that a reader of the past never
 * scans more than one interval. The first keyframes after a start are spread over the interval by name.
 */
public final class Keyframes {
    /** As long as the design says, 2 h. */
    public static final Duration INTERVAL = Duration.ofHours(2);

    private record Due(Instant at, String node) implements Comparable<Due> {
        @Override
        public int compareTo(Due other) {
            return at.compareTo(other.at);
        }
    }

    private final Duration interval;
    private final Map<String, Instant> due = new HashMap<>();
    private final PriorityQueue<Due> queue = new PriorityQueue<>();

    /** Nothing is due. */
    public Keyframes(Duration interval) {
        this.interval = interval;
    }

    /** Begins anew: nobody knows here when the nodes were written last. */
    public void start(List<String> nodes, Instant now) {
        due.clear();
        queue.clear();
        for (String node : nodes) {
            plan(node, now.plusMillis(Math.floorMod(node.hashCode() * 2_654_435_769L, interval.toMillis())));
        }
    }

    /** The view of a node was written. */
    public void written(String node, Instant now) {
        plan(node, now.plus(interval));
    }

    /** The node is forgotten. */
    public void forget(String node) {
        due.remove(node);
    }

    /** The nodes that are due now, each once; they are planned again. */
    public List<String> due(Instant now) {
        var found = new ArrayList<String>();
        for (Due next = queue.peek(); next != null && !next.at().isAfter(now); next = queue.peek()) {
            queue.remove();
            if (next.at().equals(due.get(next.node()))) {
                found.add(next.node());
                plan(next.node(), now.plus(interval));
            }
        }
        return found;
    }

    private void plan(String node, Instant at) {
        due.put(node, at);
        queue.add(new Due(at, node));
    }
}
