package io.gpufleet.inventory.model;

import java.time.Instant;
import java.util.List;

/** One change of one node; {@link Fleet#apply} is the only way to change a fleet. */
public sealed interface FleetDelta {
    /** The node that changes. */
    String node();

    /** The daemon announced the inventory of its node. */
    record NodeAnnounced(String node, Announcement announcement) implements FleetDelta {}

    /** The daemon stopped gracefully in a boot. */
    record NodeDeparted(String node, String bootId, Instant at) implements FleetDelta {}

    /** The daemon sent any other event. */
    record HeartbeatReceived(String node, Instant at) implements FleetDelta {}

    /** No event of the daemon was read for longer than the silence timeout. */
    record HeartbeatTimedOut(String node, Instant at) implements FleetDelta {}

    /** The health-service published verdicts, or deleted them. */
    record VerdictsChanged(String node, Verdicts verdicts) implements FleetDelta {}

    /** The daemon reported the containers that hold devices. */
    record HoldersChanged(String node, List<Holder> holders) implements FleetDelta {}

    /** The Node object was observed. */
    record NodeObjectObserved(String node, String uid, NodeSettings settings) implements FleetDelta {}

    /** The Node object of that UID was deleted. */
    record NodeObjectDeleted(String node, String uid) implements FleetDelta {}

    /** The node was departed or lost for longer than the retention. */
    record NodeExpired(String node) implements FleetDelta {}

    /** Labels were applied, except those keys. */
    record LabelsApplied(String node, List<String> conflicts) implements FleetDelta {}
}
