package io.gpufleet.inventory.model;

import java.time.Instant;
import java.util.List;

/** One change of one node; the image of the fleet changes by nothing else. */
public sealed interface FleetDelta {
    /** The node that changes. */
    String node();

    /** The daemon told what the node has. */
    record Announced(String node, Announcement announcement) implements FleetDelta {}

    /** The daemon stopped in good order, in the boot that is named. */
    record Departed(String node, String bootId, Instant at) implements FleetDelta {}

    /** Any other sign of life. */
    record Heard(String node, Instant at) implements FleetDelta {}

    /** Nothing was heard for longer than allowed. */
    record FellSilent(String node, Instant at) implements FleetDelta {}

    /** The health-service reached a verdict, or gave it up. */
    record Judged(String node, Verdicts verdicts) implements FleetDelta {}

    /** The daemon told who holds devices. */
    record Held(String node, List<Holder> holders) implements FleetDelta {}

    /** The Node object was seen. */
    record ObjectSeen(String node, String uid, NodeSettings settings) implements FleetDelta {}

    /** The Node object of that UID is gone. */
    record ObjectGone(String node, String uid) implements FleetDelta {}

    /** The node was away for so long that nobody expects it back. */
    record Forgotten(String node) implements FleetDelta {}

    /** Labels were written, all but those keys. */
    record LabelsWritten(String node, List<String> conflicts) implements FleetDelta {}
}
