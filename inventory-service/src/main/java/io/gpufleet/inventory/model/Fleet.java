package io.gpufleet.inventory.model;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The state of all nodes at one moment; immutable, so that any thread may read it. {@link #apply} returns the next state,
 * {@link #load} sets a node to the state of the changelog; both lead to equal fleets.
 *
 * @param nodes every known node, by name
 * @param nodesByDevice names of the nodes that announced a device, sorted, by UUID of the GPU or MIG instance; more than
 *     one when a board was moved and its old node has not announced since
 */
public record Fleet(ImmutableTreeMap<NodeState> nodes, ImmutableTreeMap<List<String>> nodesByDevice) {
    /** No nodes. */
    public static final Fleet EMPTY = new Fleet(ImmutableTreeMap.empty(), ImmutableTreeMap.empty());

    /** A GPU and the node that has it. */
    public record GpuLocation(NodeState node, Gpu gpu) {}

    /** A node, if it is known. */
    public Optional<NodeState> node(String name) {
        return nodes.get(name);
    }

    /** A node, or one of which only the name is known. */
    public NodeState nodeOrUnknown(String name) {
        return nodes.get(name).orElseGet(() -> NodeState.unknown(name));
    }

    /** The GPU with that UUID or with a MIG instance of that UUID; from the newest announcement, where nodes disagree. */
    public Optional<GpuLocation> device(String uuid) {
        return nodesByDevice.get(uuid).stream()
                .flatMap(List::stream)
                .flatMap(name -> node(name).stream())
                .max(Comparator.comparing((NodeState node) -> node.lastAnnouncement()
                                .map(Announcement::appendedAt)
                                .orElse(Instant.MIN))
                        .thenComparing(NodeState::name))
                .flatMap(node -> node.gpus().stream()
                        .filter(gpu -> gpu.deviceIds().anyMatch(uuid::equals))
                        .findFirst()
                        .map(gpu -> new GpuLocation(node, gpu)));
    }

    /** The next fleet; this one where the delta changes nothing. */
    public Fleet apply(FleetDelta delta) {
        NodeState before = nodeOrUnknown(delta.node());
        NodeState after = changed(before, delta);
        return after.differsFrom(before) ? load(after.withRevision(before.revision() + 1)) : this;
    }

    /** The fleet with this state of a node; an empty state removes the node. */
    public Fleet load(NodeState node) {
        if (node.isEmpty()) {
            return forget(node.name());
        }
        NodeState before = nodeOrUnknown(node.name());
        ImmutableTreeMap<List<String>> devices = before.gpus().equals(node.gpus())
                ? nodesByDevice
                : withDevicesOf(withoutDevicesOf(nodesByDevice, before), node);
        return new Fleet(nodes.with(node.name(), node), devices);
    }

    /** The fleet without a node. */
    public Fleet forget(String name) {
        return node(name)
                .map(node -> new Fleet(nodes.without(name), withoutDevicesOf(nodesByDevice, node)))
                .orElse(this);
    }

    private static NodeState changed(NodeState node, FleetDelta delta) {
        return switch (delta) {
            case FleetDelta.NodeAnnounced(String _, Announcement announcement) -> announced(node, announcement);
            case FleetDelta.NodeDeparted departed -> departed(node, departed);
            case FleetDelta.HeartbeatReceived heartbeat ->
                node.presence() == null ? node : node.with(node.presence().onHeartbeat(heartbeat.at()));
            case FleetDelta.HeartbeatTimedOut timeout ->
                node.presence() instanceof Presence.Present present ? node.with(present.toLost(timeout.at())) : node;
            case FleetDelta.VerdictsChanged changed -> node.with(changed.verdicts());
            case FleetDelta.HoldersChanged changed -> node.withHolders(changed.holders());
            case FleetDelta.NodeObjectObserved observed -> node.withNodeObject(observed.uid(), observed.settings());
            case FleetDelta.NodeObjectDeleted deleted ->
                node.object().uid().equals(deleted.uid()) ? withoutObject(node) : node;
            case FleetDelta.NodeExpired _ -> NodeState.unknown(node.name());
            case FleetDelta.LabelsApplied applied ->
                node.withLabelConflicts(applied.conflicts().stream().sorted().toList());
        };
    }

    /** A repeated announcement is not stored: each view would change every 6 h otherwise. */
    private static NodeState announced(NodeState node, Announcement announcement) {
        Announcement before = node.announcement();
        Presence presence = node.presence() == null
                ? new Presence.Present(announcement.appendedAt())
                : node.presence().onAnnouncement(announcement.appendedAt());
        boolean repeated = before != null && before.hasSameContentAs(announcement);
        return repeated ? node.with(presence) : node.with(announcement).with(presence);
    }

    /** The departure of another boot than the announced one is ignored. */
    private static NodeState departed(NodeState node, FleetDelta.NodeDeparted departed) {
        boolean thisBoot = node.lastAnnouncement()
                .filter(announcement -> announcement.bootId().equals(departed.bootId()))
                .isPresent();
        return thisBoot && node.presence() != null ? node.with(node.presence().onDeparture(departed.at())) : node;
    }

    /** A departed or lost node is removed with its Node object; a present one stays. */
    private static NodeState withoutObject(NodeState node) {
        return switch (node.presence()) {
            case Presence.Departed _, Presence.Lost _ -> NodeState.unknown(node.name());
            case Presence.Present _ -> node.with(NodeObjectState.ABSENT);
            case null -> node.with(NodeObjectState.ABSENT);
        };
    }

    private static ImmutableTreeMap<List<String>> withDevicesOf(
            ImmutableTreeMap<List<String>> devices, NodeState node) {
        for (Gpu gpu : node.gpus()) {
            for (String id : gpu.deviceIds().toList()) {
                Stream<String> others = devices.get(id).stream().flatMap(List::stream);
                devices = devices.with(
                        id,
                        Stream.concat(others, Stream.of(node.name()))
                                .sorted()
                                .distinct()
                                .toList());
            }
        }
        return devices;
    }

    private static ImmutableTreeMap<List<String>> withoutDevicesOf(
            ImmutableTreeMap<List<String>> devices, NodeState node) {
        for (Gpu gpu : node.gpus()) {
            for (String id : gpu.deviceIds().toList()) {
                List<String> others = devices.get(id).stream()
                        .flatMap(List::stream)
                        .filter(name -> !name.equals(node.name()))
                        .toList();
                devices = others.isEmpty() ? devices.without(id) : devices.with(id, others);
            }
        }
        return devices;
    }
}
