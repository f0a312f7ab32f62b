package io.gpufleet.inventory.kafka;

import com.google.protobuf.Message;
import io.gpufleet.inventory.app.Acting;
import io.gpufleet.inventory.app.Inventory;
import io.gpufleet.inventory.model.FleetDelta;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.NodeImage;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.Verdicts;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.health.v1.HealthState;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.fold.Folder;
import io.gpufleet.wire.fold.Inbound;
import io.gpufleet.wire.fold.Outbound;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/** What the inventory makes of the bus: messages to changes of the image, changed nodes to views, history and settings. */
public final class InventoryFolder implements Folder {
    private final Inventory inventory;
    private final BooleanSupplier caughtUp;
    private final Acting acting;
    private Instant now = Instant.EPOCH;

    /**
     * Folds into the inventory.
     *
     * @param caughtUp whether nothing of the inputs was left to read when it was last asked
     */
    public InventoryFolder(Inventory inventory, BooleanSupplier caughtUp, Acting acting) {
        this.inventory = inventory;
        this.caughtUp = caughtUp;
        this.acting = acting;
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
    public Set<Topic> undecoded() {
        return Set.of(Topic.TELEMETRY);
    }

    @Override
    public void clear() {
        inventory.clear();
    }

    @Override
    public void restore(String key, Message state) {
        inventory.load(ViewMapper.model(key, (NodeView) state));
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
        if (event.envelope().source() instanceof Source.Node) {
            inventory
                    .heard(event.key(), event.appendedAt(), at)
                    .ifPresent(change ->
                            out.addAll(outputs(change, event.envelope().traceparent())));
        }
        return out;
    }

    @Override
    public List<Outbound> foldTombstone(Topic topic, String key, Instant appendedAt) {
        return topic == Topic.VERDICTS ? apply(new FleetDelta.Judged(key, Verdicts.NONE)) : List.of();
    }

    @Override
    public List<Outbound> heard(Topic topic, String key, Instant appendedAt) {
        return inventory
                .heard(key, appendedAt, now)
                .map(change -> outputs(change, ""))
                .orElse(List.of());
    }

    @Override
    public List<Outbound> tick(Instant at) {
        now = at;
        var out = new ArrayList<Outbound>();
        inventory.tick(caughtUp.getAsBoolean(), at).forEach(change -> out.addAll(outputs(change, "")));
        inventory.keyframes(at).forEach(node -> out.add(history(node, "")));
        return out;
    }

    @Override
    public void committed(List<Outbound> outputs) {
        inventory.publish();
        outputs.stream()
                .filter(out -> out.topic() == Topic.NODES)
                .map(Outbound::key)
                .distinct()
                .forEach(acting::changed);
    }

    @Override
    public void activated(Instant at) {
        now = at;
        inventory.activated(at);
        acting.begin();
    }

    @Override
    public void deactivated() {
        acting.end();
    }

    private List<Outbound> apply(FleetDelta delta) {
        return inventory.apply(delta, now).map(change -> outputs(change, "")).orElse(List.of());
    }

    private static Optional<FleetDelta> delta(Inbound event) {
        String node = event.key();
        return switch (event.payload()) {
            case NodeAnnounced announced ->
                Optional.of(new FleetDelta.Announced(node, AnnouncementMapper.model(announced, event.appendedAt())));
            case NodeDeparted departed ->
                Optional.of(new FleetDelta.Departed(node, departed.getBootId(), event.appendedAt()));
            case NodeVerdict verdict -> Optional.of(new FleetDelta.Judged(node, verdicts(verdict)));
            case DevicesHeld held -> Optional.of(new FleetDelta.Held(node, holders(held)));
            case KubernetesFact fact -> fact(node, fact);
            default -> Optional.empty();
        };
    }

    private static Optional<FleetDelta> fact(String node, KubernetesFact fact) {
        return switch (fact.getFactCase()) {
            case NODE ->
                Optional.of(new FleetDelta.ObjectSeen(
                        node,
                        fact.getNode().getUid(),
                        NodeSettings.of(fact.getNode().getLabelsMap())));
            case NODE_DELETED ->
                Optional.of(
                        new FleetDelta.ObjectGone(node, fact.getNodeDeleted().getUid()));
            case PATCH ->
                fact.getPatch().getWhat().equals(SignalSender.LABELS)
                        ? Optional.of(new FleetDelta.LabelsWritten(
                                node, fact.getPatch().getConflictsList()))
                        : Optional.empty();
            case MARK_REMOVED, POD, FACT_NOT_SET -> Optional.empty();
        };
    }

    private static Verdicts verdicts(NodeVerdict verdict) {
        var devices = new TreeMap<String, String>();
        verdict.getDevicesList().forEach(device -> devices.put(device.getDeviceUuid(), word(device.getState())));
        return new Verdicts(
                verdict.getState() == HealthState.HEALTH_STATE_UNSPECIFIED
                        ? Verdicts.TRUSTED
                        : word(verdict.getState()),
                devices);
    }

    private static String word(HealthState state) {
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

    private List<Outbound> outputs(Inventory.Change change, String trace) {
        String node = change.before().name();
        var out = new ArrayList<Outbound>();
        change.after()
                .ifPresentOrElse(
                        view -> {
                            out.add(new Outbound.Event(
                                    Topic.NODES, EventType.NODE_VIEWED, node, ViewMapper.wire(view), "", now, trace));
                            out.add(history(view, trace));
                        },
                        () -> out.add(new Outbound.Tombstone(Topic.NODES, node)));
        NodeSettings before = change.before().chosenSettings();
        NodeSettings after = change.after().map(NodeImage::chosenSettings).orElse(NodeSettings.NONE);
        if (!after.equals(before)) {
            out.add(
                    after.equals(NodeSettings.NONE)
                            ? new Outbound.Tombstone(Topic.SETTINGS, node)
                            : Outbound.Event.of(
                                    Topic.SETTINGS, EventType.SETTINGS_CHOSEN, node, ViewMapper.settings(after), now));
        }
        return out;
    }

    private Outbound history(NodeImage view, String trace) {
        return new Outbound.Event(
                Topic.NODES_HISTORY, EventType.NODE_VIEWED, view.name(), ViewMapper.wire(view), "", now, trace);
    }
}
