package io.gpufleet.inventory.model;

/** Maps a node and one delta to the next state of the node, the revision aside. */
final class NodeTransitions {
    private NodeTransitions() {}

    static NodeState after(NodeState node, NodeDelta delta) {
        return switch (delta) {
            case NodeDelta.NodeAnnounced(Announcement announcement) -> announced(node, announcement);
            case NodeDelta.NodeDeparted departed -> departed(node, departed);
            case NodeDelta.HeartbeatReceived heartbeat ->
                node.presence() == null ? node : node.with(node.presence().onHeartbeat(heartbeat.at()));
            case NodeDelta.HeartbeatTimedOut timeout ->
                node.presence() instanceof Presence.Present present ? node.with(present.toLost(timeout.at())) : node;
            case NodeDelta.VerdictsChanged changed -> node.with(changed.verdicts());
            case NodeDelta.HoldersChanged changed -> node.withHolders(changed.holders());
            case NodeDelta.NodeObjectObserved observed -> node.withNodeObject(observed.uid(), observed.settings());
            case NodeDelta.NodeObjectDeleted deleted ->
                node.object().uid().equals(deleted.uid()) ? withoutObject(node) : node;
            case NodeDelta.NodeExpired _ -> NodeState.unknown(node.name());
            case NodeDelta.LabelsApplied applied -> node.withLabelConflicts(applied.conflicts());
        };
    }

    /** A repeated announcement is not stored: each view would change every 6 h otherwise. */
    private static NodeState announced(NodeState node, Announcement newest) {
        Announcement before = node.announcement();
        Announcement announcement = before == null ? newest : RetainedDriverValues.completed(newest, before);
        Presence presence = node.presence() == null
                ? new Presence.Present(announcement.appendedAt())
                : node.presence().onAnnouncement(announcement.appendedAt());
        boolean repeated = before != null && before.hasSameContentAs(announcement);
        return repeated ? node.with(presence) : node.with(announcement).with(presence);
    }

    /** The departure of another boot than the announced one is ignored. */
    private static NodeState departed(NodeState node, NodeDelta.NodeDeparted departed) {
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
}
