package io.gpufleet.inventory.kafka;

import com.google.protobuf.Message;
import io.gpufleet.inventory.app.NodeTimers;
import io.gpufleet.inventory.model.NodeDelta;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.UnaryOperator;

/** Joins the topics of the fleet into one state per node, and publishes changed views to history and settings. */
public final class InventoryProjection implements Projection<NodeState> {
    /** A fault is told on four topics within this time; nobody waits for the view of it. */
    private static final Duration LINGER = Duration.ofMillis(200);

    private final NodeTimers timers;
    /** Views that are on their way to the history: the same message is the state on the changelog, and encoded once. */
    private final ConcurrentMap<String, Viewed> viewed = new ConcurrentHashMap<>();

    private record Viewed(NodeState state, NodeView view) {}

    /** A projection whose memory beside the states is {@code timers}. */
    public InventoryProjection(NodeTimers timers) {
        this.timers = timers;
    }

    @Override
    public ProjectionSpec spec() {
        return new ProjectionSpec(
                Topic.NODES,
                EventType.NODE_VIEWED,
                1,
                Set.of(Topic.INVENTORY, Topic.VERDICTS, Topic.ALLOCATION, Topic.SIGNALS),
                Set.of(Topic.TELEMETRY),
                Set.of(Topic.NODES_HISTORY, Topic.SETTINGS));
    }

    @Override
    public Duration linger() {
        return LINGER;
    }

    @Override
    public NodeState read(String node, Message state) {
        return NodeViewMapper.model(node, (NodeView) state);
    }

    @Override
    public Message write(String node, NodeState state) {
        Viewed last = viewed.remove(node);
        return last != null && last.state() == state ? last.view() : NodeViewMapper.wire(state);
    }

    @Override
    public void restarted(States<NodeState> states, Instant now) {
        viewed.clear();
        timers.restart(nodes(states).stream().map(NodeState::name).toList(), now);
    }

    @Override
    public Effects<NodeState> on(States<NodeState> states, Inbound input, Instant now) {
        NodeState before = node(states, input.key());
        NodeState after = before.apply(NodeDeltaMapper.deltas(input).toArray(NodeDelta[]::new));
        if (NodeDeltaMapper.fromDaemon(input) && !after.isEmpty()) {
            timers.heard(after.name(), now);
        }
        return effects(before, after, event -> event.causedBy(input), now);
    }

    @Override
    public Collection<String> due(States<NodeState> states, Progress progress, Instant now) {
        // The same for all nodes of a partition number: both topics have as many partitions.
        var readFor = new HashMap<Integer, Duration>();
        return timers.due(
                () -> nodes(states),
                node -> readFor.computeIfAbsent(Topic.INVENTORY.partitionOf(node), _ -> readFor(node, progress, now)),
                now);
    }

    /** A departure that waits unread on one topic is no silence on the other. */
    private static Duration readFor(String node, Progress progress, Instant now) {
        Duration heartbeats = progress.caughtUpFor(Topic.TELEMETRY, node, now);
        Duration announcements = progress.caughtUpFor(Topic.INVENTORY, node, now);
        return heartbeats.compareTo(announcements) < 0 ? heartbeats : announcements;
    }

    @Override
    public Effects<NodeState> tick(String key, States<NodeState> states, Instant now) {
        NodeState before = node(states, key);
        NodeState after = timers.delta(key).map(before::apply).orElse(before);
        return after == before && timers.snapshotDue(key) && !before.isEmpty()
                ? Effects.publish(List.of(history(NodeViewMapper.wire(before), now)))
                : effects(before, after, UnaryOperator.identity(), now);
    }

    private Effects<NodeState> effects(
            NodeState before, NodeState after, UnaryOperator<Outbound.Event> traced, Instant now) {
        if (after == before) {
            return Effects.none();
        }
        String node = before.name();
        var outputs = new ArrayList<Outbound>();
        if (!after.isEmpty()) {
            NodeView view = NodeViewMapper.wire(after);
            viewed.put(node, new Viewed(after, view));
            outputs.add(traced.apply(history(view, now)));
        }
        NodeSettings settings = after.settingsOrNone();
        if (settings.equals(NodeSettings.NONE)) {
            if (!before.settingsOrNone().equals(NodeSettings.NONE)) {
                outputs.add(new Outbound.Tombstone(Topic.SETTINGS, node));
            }
        } else if (!settings.equals(before.settingsOrNone())) {
            outputs.add(traced.apply(chosen(node, settings, now)));
        }
        if (after.isEmpty()) {
            timers.forget(node);
            viewed.remove(node);
            return Effects.forget(node, outputs);
        }
        timers.published(node, now);
        return Effects.state(node, after, outputs);
    }

    private static Outbound.Event history(NodeView view, Instant now) {
        return Outbound.Event.of(Topic.NODES_HISTORY, EventType.NODE_VIEWED, view.getNode(), view, now);
    }

    private static Outbound.Event chosen(String node, NodeSettings settings, Instant now) {
        return Outbound.Event.of(
                Topic.SETTINGS, EventType.SETTINGS_CHOSEN, node, NodeViewMapper.settings(settings), now);
    }

    private static NodeState node(States<NodeState> states, String name) {
        return states.get(name).orElseGet(() -> NodeState.unknown(name));
    }

    private static List<NodeState> nodes(States<NodeState> states) {
        var nodes = new ArrayList<NodeState>(states.size());
        states.forEach((_, node) -> nodes.add(node));
        return nodes;
    }
}
