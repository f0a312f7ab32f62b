package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.ConsumerProgress;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.FleetDelta;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Presence;
import io.gpufleet.inventory.model.SnapshotSchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Owns the state of the fleet. One thread calls all methods except {@link #committed()} and {@link #suspected()}. Readers
 * see the committed state; on a standby, the state of the changelog.
 */
public final class Inventory {
    /** A node that is departed or lost for longer is removed. */
    public static final Duration RETENTION = Duration.ofDays(30);

    private final NodeLossPolicy lossPolicy;
    private final SnapshotSchedule snapshots;

    private Fleet fleet = Fleet.EMPTY;
    private volatile Fleet committed = Fleet.EMPTY;
    private volatile List<String> suspected = List.of();
    private final Map<String, Instant> lastHeartbeat = new HashMap<>();
    private final Deque<Instant> recentLosses = new ArrayDeque<>();
    private ConsumerProgress progress = ConsumerProgress.startingAt(Instant.EPOCH);
    private Instant evaluatedAt = Instant.EPOCH;

    /** An empty fleet. */
    public Inventory(NodeLossPolicy lossPolicy, SnapshotSchedule snapshots) {
        this.lossPolicy = lossPolicy;
        this.snapshots = snapshots;
    }

    /** State of a node before and after a change; {@code after} is empty if the node was removed. */
    public record NodeChange(NodeState before, Optional<NodeState> after) {}

    /** The committed state of the fleet. */
    public Fleet committed() {
        return committed;
    }

    /** Silent nodes not declared lost because a fault of the bus is suspected. */
    public List<String> suspected() {
        return suspected;
    }

    /** Removes all nodes, before a restore. */
    public void clear() {
        fleet = Fleet.EMPTY;
        committed = fleet;
        suspected = List.of();
    }

    /** Sets a node to its state in the changelog. */
    public void load(NodeState node) {
        fleet = fleet.load(node);
        committed = fleet;
    }

    /** Removes a node that has a tombstone in the changelog. */
    public void forget(String node) {
        fleet = fleet.forget(node);
        committed = fleet;
    }

    /** The state of a node, committed or not. */
    public NodeState node(String name) {
        return fleet.nodeOrUnknown(name);
    }

    /** Starts the term of the active replica: silence counts from now. */
    public void activated(Instant now) {
        lastHeartbeat.clear();
        recentLosses.clear();
        progress = ConsumerProgress.startingAt(now);
        evaluatedAt = now;
        snapshots.start(fleet.nodes().values().stream().map(NodeState::name).toList(), now);
    }

    /** Applies one delta; empty if it changes nothing. */
    public Optional<NodeChange> apply(FleetDelta delta, Instant now) {
        NodeState before = fleet.nodeOrUnknown(delta.node());
        fleet = fleet.apply(delta);
        Optional<NodeState> after = fleet.node(delta.node());
        if (after.orElseGet(() -> NodeState.unknown(delta.node())).revision() == before.revision()) {
            return Optional.empty();
        }
        after.ifPresentOrElse(node -> snapshots.published(node.name(), now), () -> {
            snapshots.forget(delta.node());
            lastHeartbeat.remove(delta.node());
        });
        return Optional.of(new NodeChange(before, after));
    }

    /** Applies a heartbeat; empty if it changes nothing. */
    public Optional<NodeChange> onHeartbeat(String node, Instant appendedAt, Instant now) {
        if (fleet.node(node).isEmpty()) {
            return Optional.empty();
        }
        lastHeartbeat.put(node, now);
        return apply(new FleetDelta.HeartbeatReceived(node, appendedAt), now);
    }

    /**
     * Applies the loss policy and the retention, at most once a second.
     *
     * @param caughtUp whether the inputs had been read to their end
     */
    public List<NodeChange> tick(boolean caughtUp, Instant now) {
        progress = progress.afterPoll(caughtUp, now);
        if (now.isBefore(evaluatedAt.plusSeconds(1))) {
            return List.of();
        }
        evaluatedAt = now;
        while (!recentLosses.isEmpty() && recentLosses.peek().isBefore(now.minus(lossPolicy.silenceTimeout()))) {
            recentLosses.remove();
        }
        List<String> present = fleet.nodes().values().stream()
                .filter(node -> node.presence() instanceof Presence.Present)
                .map(NodeState::name)
                .toList();
        NodeLossPolicy.LossDecision decision = lossPolicy.decide(progress, present, lastHeartbeat, recentLosses.size());
        suspected = decision.suspected();
        var changes = expireNodes(now);
        for (String node : decision.lost()) {
            recentLosses.add(now);
            apply(new FleetDelta.HeartbeatTimedOut(node, now), now).ifPresent(changes::add);
        }
        return changes;
    }

    private List<NodeChange> expireNodes(Instant now) {
        var changes = new ArrayList<NodeChange>();
        fleet.nodes().values().stream()
                .filter(node -> switch (node.presence()) {
                    case Presence.Departed(Instant since) -> since.isBefore(now.minus(RETENTION));
                    case Presence.Lost(Instant since) -> since.isBefore(now.minus(RETENTION));
                    case Presence.Present _ -> false;
                    case null -> false;
                })
                .forEach(node ->
                        apply(new FleetDelta.NodeExpired(node.name()), now).ifPresent(changes::add));
        return changes;
    }

    /** Unchanged views that are due for the history. */
    public List<NodeState> snapshots(Instant now) {
        return snapshots.due(now).stream()
                .flatMap(name -> fleet.node(name).stream())
                .toList();
    }

    /** Shows the applied deltas to readers. */
    public void commit() {
        committed = fleet;
    }
}
