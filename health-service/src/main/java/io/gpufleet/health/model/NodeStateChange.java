package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RepairHistory;
import io.gpufleet.health.model.maintenance.Maintenance;
import io.gpufleet.health.model.presence.Presence;
import io.gpufleet.health.model.remediation.RemediationProgress;
import java.time.Instant;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** A change of a node's state; only {@link StateReducer} applies it. */
public sealed interface NodeStateChange {
    /** The daemon reports from this boot. */
    record BootChanged(NodeState.Boot boot) implements NodeStateChange {}

    /** The Node object was observed: another one than before, or one after it was deleted. */
    record NodeUidChanged(String uid) implements NodeStateChange {}

    /** Pool, zone or use of the Node object changed. */
    record PlacementChanged(NodeReference.Placement placement) implements NodeStateChange {}

    /** Whether the node is heard changed. */
    record PresenceChanged(Presence presence) implements NodeStateChange {}

    /** A drain began, went on or ended. */
    record DrainChanged(DrainProgress progress) implements NodeStateChange {}

    /** A remediation was asked for, went on or ended. */
    record RemediationChanged(RemediationProgress progress) implements NodeStateChange {}

    /** Other pods hold devices. */
    record HoldingsChanged(Holdings holdings) implements NodeStateChange {}

    /** The decisions that are held back changed, by device; for the node by the empty text. */
    record HeldBackChanged(SequencedMap<String, HeldBack> heldBack) implements NodeStateChange {}

    /** The policy tainted the node, and nothing held that back. */
    record PolicyTainted(Instant at) implements NodeStateChange {}

    /** The Node object is deleted; newest sign of the node. */
    record NodeGone(Instant since) implements NodeStateChange {}

    /** State of a device in the newest announcement; empty texts are unknown. */
    record DeviceUpdated(String uuid, Device.Identity identity, boolean listed, boolean lost)
            implements NodeStateChange {}

    /** The node is not expected to have the device any more: another one is in its place, or an operator cleared it. */
    record DeviceUnlearned(String uuid) implements NodeStateChange {}

    /** The daemon's local health of a device. */
    record HealthReported(String uuid, boolean healthy) implements NodeStateChange {}

    /** A fault was opened or updated; of the node itself when the UUID is empty. */
    record EpisodeUpdated(String uuid, Episode episode) implements NodeStateChange {}

    /** A fault ended. */
    record EpisodeEnded(String uuid, FaultCode code) implements NodeStateChange {}

    /** A fault of which observations count was observed at these times; of the node itself when the UUID is empty. */
    record FaultSeen(String uuid, FaultCode code, List<Instant> times) implements NodeStateChange {
        /** Copies the list. */
        public FaultSeen {
            times = List.copyOf(times);
        }
    }

    /** The repair history of a device changed; of the node itself when the UUID is empty. */
    record HistoryChanged(String uuid, RepairHistory history) implements NodeStateChange {}

    /** The history of former faults of a device is forgotten. */
    record FaultsForgotten(String uuid) implements NodeStateChange {}

    /** A device made a transition. */
    record DeviceHealthChanged(String uuid, DeviceHealth health) implements NodeStateChange {}

    /** A device left the node, and is remembered until another node has it. */
    record DeviceDeparted(String uuid, Instant at) implements NodeStateChange {}

    /** A device that left the node is one of it again. */
    record DeviceReturned(String uuid) implements NodeStateChange {}

    /** A device was removed from the state. */
    record DeviceForgotten(String uuid) implements NodeStateChange {}

    /** An operator quarantined the node, or released it (null). */
    record QuarantineChanged(@Nullable Quarantine quarantine) implements NodeStateChange {}

    /** Maintenance of the node was declared, or ended (null). */
    record MaintenanceChanged(@Nullable Maintenance maintenance) implements NodeStateChange {}

    /** A manual override began, or ended (null). */
    record OverrideChanged(@Nullable ManualOverride override) implements NodeStateChange {}

    /** The health of the node as a whole changed. */
    record NodeHealthChanged(NodeHealth health) implements NodeStateChange {}

    /** A verdict with this revision was reached, or the Node object was observed for the first time. */
    record VerdictReached(NodeState.Revisions revisions) implements NodeStateChange {}
}
