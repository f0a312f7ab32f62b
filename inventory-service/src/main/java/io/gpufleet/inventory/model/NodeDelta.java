package io.gpufleet.inventory.model;

import java.time.Instant;
import java.util.List;

/** One change of one node; {@link NodeState#apply} is the only way to change a node. */
public sealed interface NodeDelta {
    /** The daemon announced the inventory of its node. */
    record NodeAnnounced(Announcement announcement) implements NodeDelta {}

    /** The daemon stopped gracefully in a boot. */
    record NodeDeparted(String bootId, Instant at) implements NodeDelta {}

    /** The daemon sent any event. */
    record HeartbeatReceived(Instant at) implements NodeDelta {}

    /** No event of the daemon was read for longer than the silence timeout. */
    record HeartbeatTimedOut(Instant at) implements NodeDelta {}

    /** The health-service published verdicts, or deleted them. */
    record VerdictsChanged(Verdicts verdicts) implements NodeDelta {}

    /** The daemon reported the containers that hold devices. */
    record HoldersChanged(List<Holder> holders) implements NodeDelta {
        /** Copies the list. */
        public HoldersChanged {
            holders = List.copyOf(holders);
        }
    }

    /** The Node object was observed. */
    record NodeObjectObserved(String uid, NodeSettings settings) implements NodeDelta {}

    /** The Node object of that UID was deleted. */
    record NodeObjectDeleted(String uid) implements NodeDelta {}

    /** The node was departed or lost for longer than the retention. */
    record NodeExpired() implements NodeDelta {}

    /** Labels were applied, except those keys. */
    record LabelsApplied(List<String> conflicts) implements NodeDelta {
        /** Sorts the keys. */
        public LabelsApplied {
            conflicts = conflicts.stream().sorted().toList();
        }
    }
}
