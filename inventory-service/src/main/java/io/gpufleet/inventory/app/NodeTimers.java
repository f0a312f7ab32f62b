package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.HeartbeatSilence;
import io.gpufleet.inventory.model.NodeDelta;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Presence;
import io.gpufleet.inventory.model.SnapshotSchedule;
import io.gpufleet.inventory.model.Verdicts;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Decides what the passing of time changes: losses, removals and snapshots for the history. Remembers for one term what no
 * state contains: last heartbeats, recent losses, the schedule of snapshots. One thread calls all methods.
 */
public final class NodeTimers {
    /** A node that is departed or lost for longer is removed. */
    public static final Duration RETENTION = Duration.ofDays(30);

    /**
     * A node of which only late events are known is removed after this silence: its announcement is on the log, and would
     * have been read meanwhile.
     */
    public static final Duration UNANNOUNCED_RETENTION = Duration.ofMinutes(10);

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    /** After a longer time without an evaluation, or a jump of the clock, heartbeats may have been missed. */
    private static final Duration MAX_PAUSE = Duration.ofSeconds(5);

    /** Result of one evaluation. */
    private record DueTimers(Instant at, Map<String, NodeDelta> deltas, Set<String> snapshots) {
        static DueTimers none(Instant at) {
            return new DueTimers(at, Map.of(), Set.of());
        }

        Set<String> nodes() {
            var nodes = new LinkedHashSet<>(deltas.keySet());
            nodes.addAll(snapshots);
            return nodes;
        }
    }

    private final NodeLossPolicy lossPolicy;
    private final SnapshotSchedule snapshots;
    private final Consumer<List<String>> suspected;

    private final Map<String, Instant> lastHeartbeat = new HashMap<>();
    private final Map<String, Instant> losses = new HashMap<>();
    private Instant listeningSince = Instant.EPOCH;
    private DueTimers due = DueTimers.none(Instant.EPOCH);

    /**
     * Timers before the first term.
     *
     * @param suspected is given the silent nodes that are not lost because a fault of the bus is suspected
     */
    public NodeTimers(NodeLossPolicy lossPolicy, SnapshotSchedule snapshots, Consumer<List<String>> suspected) {
        this.lossPolicy = lossPolicy;
        this.snapshots = snapshots;
        this.suspected = suspected;
    }

    /** A term begins with these nodes: silence counts from now. */
    public void restart(List<String> nodes, Instant now) {
        listenFrom(now);
        losses.clear();
        due = DueTimers.none(now);
        snapshots.start(nodes, now);
        suspected.accept(List.of());
    }

    /** An event of the daemon of a known node was read. */
    public void heard(String node, Instant now) {
        lastHeartbeat.put(node, now);
    }

    /** The view of a node is published. */
    public void published(String node, Instant now) {
        snapshots.published(node, now);
    }

    /** A node is given up. */
    public void forget(String node) {
        lastHeartbeat.remove(node);
        snapshots.forget(node);
    }

    /**
     * Nodes for which something is due, evaluated at most once a second; the same ones when asked again at the same time.
     *
     * @param readFor how long the partitions of a daemon's events have been read to their ends without a pause
     */
    public Collection<String> due(Supplier<List<NodeState>> nodes, Function<String, Duration> readFor, Instant now) {
        Duration passed = Duration.between(due.at(), now).abs();
        if (passed.isPositive() && passed.compareTo(INTERVAL) < 0) {
            return List.of();
        }
        if (passed.compareTo(MAX_PAUSE) > 0) {
            listenFrom(now);
        }
        if (passed.isPositive()) {
            due = evaluate(nodes.get(), readFor, now);
        }
        return due.nodes();
    }

    /** The change of a node that {@link #due} has found. */
    public Optional<NodeDelta> delta(String node) {
        return Optional.ofNullable(due.deltas().get(node));
    }

    /** Whether {@link #due} has found that a snapshot of a node is to be published. */
    public boolean snapshotDue(String node) {
        return due.snapshots().contains(node);
    }

    private void listenFrom(Instant now) {
        lastHeartbeat.clear();
        listeningSince = now;
    }

    private DueTimers evaluate(List<NodeState> nodes, Function<String, Duration> readFor, Instant now) {
        losses.values().removeIf(at -> at.isBefore(now.minus(lossPolicy.silenceTimeout())));
        List<HeartbeatSilence> present = nodes.stream()
                .filter(node -> node.presence() instanceof Presence.Present)
                .map(node -> silence(node.name(), readFor, now))
                .toList();
        var decision = lossPolicy.decide(present, losses.keySet());
        suspected.accept(decision.suspected());
        Map<String, NodeDelta> deltas = new HashMap<>();
        nodes.stream()
                .filter(node -> expired(node, now) || neverAnnounced(node, readFor, now))
                .forEach(node -> deltas.put(node.name(), new NodeDelta.NodeExpired()));
        decision.lost().forEach(node -> {
            losses.put(node, now);
            deltas.put(node, new NodeDelta.HeartbeatTimedOut(now));
        });
        return new DueTimers(now, deltas, Set.copyOf(snapshots.due(now)));
    }

    private HeartbeatSilence silence(String node, Function<String, Duration> readFor, Instant now) {
        Instant heard = lastHeartbeat.getOrDefault(node, listeningSince);
        return new HeartbeatSilence(node, readFor.apply(node), Duration.between(heard, now));
    }

    /** A Node object keeps its node, and so does a verdict until the health-service deletes it. */
    private boolean neverAnnounced(NodeState node, Function<String, Duration> readFor, Instant now) {
        return node.announcement() == null
                && node.presence() == null
                && node.object().uid().isEmpty()
                && node.verdicts().equals(Verdicts.NONE)
                && silence(node.name(), readFor, now).lasts(UNANNOUNCED_RETENTION);
    }

    private static boolean expired(NodeState node, Instant now) {
        return switch (node.presence()) {
            case Presence.Departed(Instant since) -> since.isBefore(now.minus(RETENTION));
            case Presence.Lost(Instant since) -> since.isBefore(now.minus(RETENTION));
            case Presence.Present _ -> false;
            case null -> false;
        };
    }
}
