package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Attention;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.FleetDelta;
import io.gpufleet.inventory.model.Keyframes;
import io.gpufleet.inventory.model.NodeImage;
import io.gpufleet.inventory.model.Presence;
import io.gpufleet.inventory.model.SilenceRule;
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
 * Owns the image of the fleet. One thread calls everything but {@link #readable()} and {@link #suspected()}; what readers
 * see is what was committed, or on a standby what was read.
 */
public final class Inventory {
    /** A node that is away for longer is forgotten. */
    public static final Duration REMEMBERED = Duration.ofDays(30);

    private final SilenceRule rule;
    private final Keyframes keyframes;

    private Fleet fleet = Fleet.EMPTY;
    private volatile Fleet readable = Fleet.EMPTY;
    private volatile List<String> suspected = List.of();
    private final Map<String, Instant> lastHeard = new HashMap<>();
    private final Deque<Instant> losses = new ArrayDeque<>();
    private Attention attention = Attention.from(Instant.EPOCH);
    private Instant ruledAt = Instant.EPOCH;

    /** An empty fleet, under a rule of what is a loss. */
    public Inventory(SilenceRule rule, Keyframes keyframes) {
        this.rule = rule;
        this.keyframes = keyframes;
    }

    /** What became of a node; {@code after} is empty when nothing is left of it. */
    public record Change(NodeImage before, Optional<NodeImage> after) {}

    /** The image that may be shown to anybody. */
    public Fleet readable() {
        return readable;
    }

    /** Silent nodes that are not called lost because so many at once are the bus's fault. */
    public List<String> suspected() {
        return suspected;
    }

    /** Forgets everything, before a restore. */
    public void clear() {
        fleet = Fleet.EMPTY;
        readable = fleet;
        suspected = List.of();
    }

    /** Takes a node as the changelog has it. */
    public void load(NodeImage node) {
        fleet = fleet.load(node);
        readable = fleet;
    }

    /** The changelog gave a node up. */
    public void forget(String node) {
        fleet = fleet.forget(node);
        readable = fleet;
    }

    /** The node as it stands now, committed or not. */
    public NodeImage node(String name) {
        return fleet.nodeOrUnknown(name);
    }

    /** Begins to act: what was not heard before counts from now. */
    public void activated(Instant now) {
        lastHeard.clear();
        losses.clear();
        attention = Attention.from(now);
        ruledAt = now;
        keyframes.start(fleet.nodes().values().stream().map(NodeImage::name).toList(), now);
    }

    /** Applies one change; empty where it says nothing new. */
    public Optional<Change> apply(FleetDelta delta, Instant now) {
        NodeImage before = fleet.nodeOrUnknown(delta.node());
        fleet = fleet.apply(delta);
        Optional<NodeImage> after = fleet.node(delta.node());
        if (after.orElseGet(() -> NodeImage.unknown(delta.node())).revision() == before.revision()) {
            return Optional.empty();
        }
        after.ifPresentOrElse(node -> keyframes.written(node.name(), now), () -> {
            keyframes.forget(delta.node());
            lastHeard.remove(delta.node());
        });
        return Optional.of(new Change(before, after));
    }

    /** A sign of life was read. */
    public Optional<Change> heard(String node, Instant appendedAt, Instant now) {
        if (fleet.node(node).isEmpty()) {
            return Optional.empty();
        }
        lastHeard.put(node, now);
        return apply(new FleetDelta.Heard(node, appendedAt), now);
    }

    /** Time passed: rules on silence, at most once a second. */
    public List<Change> tick(boolean caughtUp, Instant now) {
        attention = attention.look(caughtUp, now);
        if (now.isBefore(ruledAt.plusSeconds(1))) {
            return List.of();
        }
        ruledAt = now;
        while (!losses.isEmpty() && losses.peek().isBefore(now.minus(rule.allowed()))) {
            losses.remove();
        }
        List<String> present = fleet.nodes().values().stream()
                .filter(node -> node.presence() instanceof Presence.Present)
                .map(NodeImage::name)
                .toList();
        SilenceRule.Ruling ruling = rule.rule(attention, present, lastHeard, losses.size());
        suspected = ruling.suspected();
        var changes = forgotten(now);
        for (String node : ruling.lost()) {
            losses.add(now);
            apply(new FleetDelta.FellSilent(node, now), now).ifPresent(changes::add);
        }
        return changes;
    }

    private List<Change> forgotten(Instant now) {
        var changes = new ArrayList<Change>();
        fleet.nodes().values().stream()
                .filter(node -> switch (node.presence()) {
                    case Presence.Departed(Instant since) -> since.isBefore(now.minus(REMEMBERED));
                    case Presence.Lost(Instant since) -> since.isBefore(now.minus(REMEMBERED));
                    case Presence.Present _ -> false;
                    case null -> false;
                })
                .forEach(node ->
                        apply(new FleetDelta.Forgotten(node.name()), now).ifPresent(changes::add));
        return changes;
    }

    /** Views that are due for the history although they did not change. */
    public List<NodeImage> keyframes(Instant now) {
        return keyframes.due(now).stream()
                .flatMap(name -> fleet.node(name).stream())
                .toList();
    }

    /** What was applied is committed: readers may see it. */
    public void publish() {
        readable = fleet;
    }
}
