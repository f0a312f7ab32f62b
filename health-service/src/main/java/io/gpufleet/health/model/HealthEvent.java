package io.gpufleet.health.model;

import org.jspecify.annotations.Nullable;

/** A change of a node's state; {@link Evolution} makes it, nothing else does. */
public sealed interface HealthEvent {
    /** The node speaks from this boot now; faults of another boot are over. */
    record BootLearned(NodeState.Boot boot) implements HealthEvent {}

    /** The Node object has this UID; empty when it is gone. */
    record NodeObjectLearned(String uid) implements HealthEvent {}

    /** What the newest announcement says of a device; a model that is empty is not known. */
    record DeviceHeardOf(String uuid, String model, boolean listed, boolean lost) implements HealthEvent {}

    /** The daemon's own opinion. */
    record OpinionHeard(String uuid, boolean healthy) implements HealthEvent {}

    /** A fault is open, or more is known of it; of the node itself where the UUID is empty. */
    record EpisodeKept(String uuid, Episode episode) implements HealthEvent {}

    /** A fault is over. */
    record EpisodeEnded(String uuid, FaultCode code) implements HealthEvent {}

    /** A device made a transition. */
    record DeviceMoved(String uuid, DeviceHealth health) implements HealthEvent {}

    /** Nothing is remembered of a device any more. */
    record DeviceForgotten(String uuid) implements HealthEvent {}

    /** A hand takes the node out, or with null puts it back. */
    record QuarantineSet(@Nullable Quarantine quarantine) implements HealthEvent {}

    /** An operator's hand keeps our marks away, or with null no longer does. */
    record HandSet(@Nullable OperatorHand hand) implements HealthEvent {}

    /** Another conclusion about the node. */
    record NodeMoved(NodeStanding standing) implements HealthEvent {}

    /** A verdict with this revision stands. */
    record VerdictReached(long revision) implements HealthEvent {}
}
