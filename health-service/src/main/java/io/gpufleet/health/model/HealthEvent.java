package io.gpufleet.health.model;

import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.Recurrence;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import java.time.Instant;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** A change of a node's state; only {@link StateReducer} applies it. */
public sealed interface HealthEvent {
    /** The daemon reports from this boot. */
    record BootChanged(NodeState.Boot boot) implements HealthEvent {}

    /** The Node object was observed: another one than before, or one after it was deleted. */
    record NodeUidChanged(String uid) implements HealthEvent {}

    /** Pool, zone or use of the Node object changed. */
    record PlacementChanged(NodeReference.Placement placement) implements HealthEvent {}

    /** What is held back changed, by device; of the node by the empty text. */
    record HeldBackChanged(SequencedMap<String, HeldBack> heldBack) implements HealthEvent {}

    /** The Node object is deleted; newest sign of the node. */
    record NodeGone(Instant since) implements HealthEvent {}

    /** State of a device in the newest announcement; an empty model is unknown. */
    record DeviceUpdated(String uuid, String model, boolean listed, boolean lost) implements HealthEvent {}

    /** The daemon's local health of a device. */
    record HealthReported(String uuid, boolean healthy) implements HealthEvent {}

    /** A fault was opened or updated; of the node itself when the UUID is empty. */
    record EpisodeUpdated(String uuid, Episode episode) implements HealthEvent {}

    /** A fault ended. */
    record EpisodeEnded(String uuid, FaultCode code) implements HealthEvent {}

    /** A boot ended faults of a device, or they are forgotten. */
    record RecurrenceChanged(String uuid, Recurrence recurrence) implements HealthEvent {}

    /** A device made a transition. */
    record DeviceHealthChanged(String uuid, DeviceHealth health) implements HealthEvent {}

    /** A device was removed from the state. */
    record DeviceForgotten(String uuid) implements HealthEvent {}

    /** An operator quarantined the node, or released it (null). */
    record QuarantineChanged(@Nullable Quarantine quarantine) implements HealthEvent {}

    /** A manual override began, or ended (null). */
    record OverrideChanged(@Nullable ManualOverride override) implements HealthEvent {}

    /** The health of the node as a whole changed. */
    record NodeHealthChanged(NodeHealth health) implements HealthEvent {}

    /** A verdict with this revision was reached, or the Node object was observed for the first time. */
    record VerdictReached(NodeState.Revisions revisions) implements HealthEvent {}
}
