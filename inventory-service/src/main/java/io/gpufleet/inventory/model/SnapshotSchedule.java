package io.gpufleet.inventory.model;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;

/**
 * Schedules a snapshot of each unchanged view for the history, so that a reader of the history never scans more than one
 * interval. The first snapshots after a start are spread over the interval by node name.
 */
public final class SnapshotSchedule {
    /** Interval between two snapshots of a node. */
    public static final Duration INTERVAL = Duration.ofHours(2);

    private record ScheduledSnapshot(Instant at, String node) implements Comparable<ScheduledSnapshot> {
        @Override
        public int compareTo(ScheduledSnapshot other) {
            return at.compareTo(other.at);
        }
    }

    private final Duration interval;
    private final Map<String, Instant> due = new HashMap<>();
    /** One entry for each node, at its time or at an earlier one that was postponed since. */
    private final PriorityQueue<ScheduledSnapshot> queue = new PriorityQueue<>();

    private final Set<String> queued = new HashSet<>();

    /** An empty schedule. */
    public SnapshotSchedule(Duration interval) {
        this.interval = interval;
    }

    /** Schedules these nodes, whose last publication is unknown, and no others. */
    public void start(List<String> nodes, Instant now) {
        due.clear();
        queue.clear();
        queued.clear();
        for (String node : nodes) {
            schedule(node, now.plusMillis(Math.floorMod(node.hashCode() * 2_654_435_769L, interval.toMillis())));
        }
    }

    /** Postpones the snapshot of a node whose view was published. */
    public void published(String node, Instant now) {
        schedule(node, now.plus(interval));
    }

    /** Removes a node. */
    public void forget(String node) {
        due.remove(node);
    }

    /** Removes the nodes that are due, and schedules them for the next interval. */
    public List<String> due(Instant now) {
        var dueNodes = new ArrayList<String>();
        for (ScheduledSnapshot next = queue.peek(); next != null && !next.at().isAfter(now); next = queue.peek()) {
            queue.remove();
            String node = next.node();
            queued.remove(node);
            Instant at = due.get(node);
            if (at == null) {
                continue;
            }
            if (at.isAfter(now)) {
                schedule(node, at);
            } else {
                dueNodes.add(node);
                schedule(node, now.plus(interval));
            }
        }
        return dueNodes;
    }

    /** Number of entries that are kept. */
    int size() {
        return queue.size();
    }

    private void schedule(String node, Instant at) {
        due.put(node, at);
        if (queued.add(node)) {
            queue.add(new ScheduledSnapshot(at, node));
        }
    }
}
