package io.gpufleet.inventory.kafka;

import com.google.protobuf.Message;
import io.gpufleet.inventory.app.Actor;
import io.gpufleet.inventory.app.Inventory;
import io.gpufleet.inventory.model.FleetDelta;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Verdicts;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.health.v1.HealthState;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.projection.Inbound;
import io.gpufleet.wire.projection.Outbound;
import io.gpufleet.wire.projection.Projection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/** Maps events to deltas of the fleet, and changed nodes to views, history and settings. */
public final class InventoryProjection implements Projection {
    private final Inventory inventory;
    private final BooleanSupplier caughtUp;
    private final Actor actor;
    private Instant now = Instant.EPOCH;

    /**
     * A projection into the inventory.
     *
     * @param caughtUp whether the inputs have been read to their end
     */
    public InventoryProjection(Inventory inventory, BooleanSupplier caughtUp, Actor actor) {
        this.inventory = inventory;
        this.caughtUp = caughtUp;
        this.actor = actor;
    }

    @Override
    public Topic changelog() {
        return Topic.NODES;
    }

    @Override
    public EventType changelogType() {
        return EventType.NODE_VIEWED;
    }

    @Override
    public Set<Topic> inputs() {
        return Set.of(Topic.INVENTORY, Topic.TELEMETRY, Topic.VERDICTS, Topic.ALLOCATION, Topic.SIGNALS);
    }

    @Override
    public Set<Topic> heartbeatTopics() {
        return Set.of(Topic.TELEMETRY);
    }

    @Override
    public void clear() {
        inventory.clear();
    }

    @Override
    public void restore(String key, Message state) {
        inventory.load(NodeViewMapper.model(key, (NodeView) state));
    }

    @Override
    public void forget(String key) {
        inventory.forget(key);
    }

    @Override
    public List<Outbound> fold(Inbound event, Instant at) {
        now = at;
        var out = new ArrayList<Outbound>();
        delta(event)
                .flatMap(delta -> inventory.apply(delta, at))
                .ifPresent(change -> out.addAll(outputs(change, event.envelope().traceparent())));
        if (event.envelope().source() instanceof EventSource.Node) {
            inventory
                    .onHeartbeat(event.key(), event.appendedAt(), at)
                    .ifPresent(change ->
                            out.addAll(outputs(change, event.envelope().traceparent())));
        }
        return out;
    }

    @Override
    public List<Outbound> foldTombstone(Topic topic, String key, Instant appendedAt) {
        return topic == Topic.VERDICTS ? apply(new FleetDelta.VerdictsChanged(key, Verdicts.NONE)) : List.of();
    }

    @Override
    public List<Outbound> heartbeat(Topic topic, String key, Instant appendedAt) {
        return inventory
                .onHeartbeat(key, appendedAt, now)
                .map(change -> outputs(change, ""))
                .orElse(List.of());
    }

    @Override
    public List<Outbound> tick(Instant at) {
        now = at;
        var out = new ArrayList<Outbound>();
        inventory.tick(caughtUp.getAsBoolean(), at).forEach(change -> out.addAll(outputs(change, "")));
        inventory.snapshots(at).forEach(node -> out.add(history(node, "")));
        return out;
    }

    @Override
    public void committed(List<Outbound> outputs) {
        inventory.commit();
        outputs.stream()
                .filter(out -> out.topic() == Topic.NODES)
                .map(Outbound::key)
                .distinct()
                .forEach(actor::changed);
    }

    @Override
    public void activated(Instant at) {
        now = at;
        inventory.activated(at);
        actor.begin();
    }

    @Override
    public void deactivated() {
        actor.end();
    }

    private List<Outbound> apply(FleetDelta delta) {
        return inventory.apply(delta, now).map(change -> outputs(change, "")).orElse(List.of());
    }

    private static Optional<FleetDelta> delta(Inbound event) {
        String node = event.key();
        return switch (event.payload()) {
            case NodeAnnounced announced ->
                Optional.of(
                        new FleetDelta.NodeAnnounced(node, AnnouncementMapper.model(announced, event.appendedAt())));
            case NodeDeparted departed ->
                Optional.of(new FleetDelta.NodeDeparted(node, departed.getBootId(), event.appendedAt()));
            case NodeVerdict verdict -> Optional.of(new FleetDelta.VerdictsChanged(node, verdicts(verdict)));
            case DevicesHeld held -> Optional.of(new FleetDelta.HoldersChanged(node, holders(held)));
            case KubernetesFact fact -> fact(node, fact);
            default -> Optional.empty();
        };
    }

    private static Optional<FleetDelta> fact(String node, KubernetesFact fact) {
        return switch (fact.getFactCase()) {
            case NODE ->
                Optional.of(new FleetDelta.NodeObjectObserved(
                        node,
                        fact.getNode().getUid(),
                        NodeSettings.of(fact.getNode().getLabelsMap())));
            case NODE_DELETED ->
                Optional.of(new FleetDelta.NodeObjectDeleted(
                        node, fact.getNodeDeleted().getUid()));
            case PATCH ->
                fact.getPatch().getTarget().equals(SignalSender.LABELS)
                        ? Optional.of(new FleetDelta.LabelsApplied(
                                node, fact.getPatch().getConflictsList()))
                        : Optional.empty();
            case OVERRIDE, POD, FACT_NOT_SET -> Optional.empty();
        };
    }

    private static Verdicts verdicts(NodeVerdict verdict) {
        var devices = new TreeMap<String, String>();
        verdict.getDevicesList().forEach(device -> devices.put(device.getDeviceUuid(), stateName(device.getState())));
        return new Verdicts(
                verdict.getState() == HealthState.HEALTH_STATE_UNSPECIFIED
                        ? Verdicts.TRUSTED
                        : stateName(verdict.getState()),
                devices);
    }

    private static String stateName(HealthState state) {
        return state == HealthState.UNRECOGNIZED || state == HealthState.HEALTH_STATE_UNSPECIFIED
                ? "unknown"
                : state.name().substring("HEALTH_STATE_".length()).toLowerCase(Locale.ROOT);
    }

    private static List<Holder> holders(DevicesHeld held) {
        return held.getHoldersList().stream()
                .map(holder -> new Holder(
                        holder.getNamespace(),
                        holder.getPod(),
                        holder.getContainer(),
                        holder.getDevicesList().stream()
                                .map(device -> device.getId())
                                .toList()))
                .toList();
    }

    private List<Outbound> outputs(Inventory.NodeChange change, String trace) {
        String node = change.before().name();
        var out = new ArrayList<Outbound>();
        change.after()
                .ifPresentOrElse(
                        view -> {
                            out.add(new Outbound.Event(
                                    Topic.NODES,
                                    EventType.NODE_VIEWED,
                                    node,
                                    NodeViewMapper.wire(view),
                                    "",
                                    now,
                                    trace));
                            out.add(history(view, trace));
                        },
                        () -> out.add(new Outbound.Tombstone(Topic.NODES, node)));
        NodeSettings before = change.before().settingsOrNone();
        NodeSettings after = change.after().map(NodeState::settingsOrNone).orElse(NodeSettings.NONE);
        if (!after.equals(before)) {
            out.add(
                    after.equals(NodeSettings.NONE)
                            ? new Outbound.Tombstone(Topic.SETTINGS, node)
                            : Outbound.Event.of(
                                    Topic.SETTINGS,
                                    EventType.SETTINGS_CHOSEN,
                                    node,
                                    NodeViewMapper.settings(after),
                                    now));
        }
        return out;
    }

    private Outbound history(NodeState view, String trace) {
        return new Outbound.Event(
                Topic.NODES_HISTORY, EventType.NODE_VIEWED, view.name(), NodeViewMapper.wire(view), "", now, trace);
    }
}
