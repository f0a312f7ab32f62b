package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.devicetime.GpuIdentity;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.KnownPod;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A fact about a node, as the ledger folds it. */
public sealed interface LedgerFact {
    /** The daemon answered Allocate; {@code at} by the node's clock. */
    record Allocated(
            String bootId,
            String resource,
            List<String> deviceIds,
            Instant at,
            Instant appendedAt,
            EventSequence eventSequence)
            implements LedgerFact {}

    /**
     * Snapshot of the holders of all devices.
     *
     * @param complete false just after a kubelet started: a device that is missing may have a holder too
     * @param clockAheadMillis how far the node's clock is ahead of the log's
     */
    record HoldingsSnapshot(
            String bootId,
            List<Holding> holdings,
            boolean complete,
            Instant at,
            Instant appendedAt,
            long clockAheadMillis,
            EventSequence eventSequence)
            implements LedgerFact {}

    /** Owner and labels of a pod became known. */
    record PodKnown(KnownPod pod) implements LedgerFact {}

    /** A pod finished, by the node's clock. */
    record PodFinished(FinishedPod pod) implements LedgerFact {}

    /**
     * Devices that are not trusted now, with the append time since which they are not; all others are trusted.
     *
     * @param untrustedSince by UUID of the GPU; {@link #EVERY_DEVICE} for the node as a whole
     */
    record TrustChanged(Map<String, Instant> untrustedSince, Instant appendedAt) implements LedgerFact {
        /** Stands for each device of the node, as long as it is there. */
        public static final String EVERY_DEVICE = "";
    }

    /** The daemon announced the GPUs of the node. */
    record GpusAnnounced(AnnouncedGpus gpus) implements LedgerFact {}

    /**
     * The daemon listed the GPUs of the node.
     *
     * @param withdrawn UUIDs of those that it does not offer, or not as healthy
     * @param complete false while no driver responds: a GPU that is not listed may be there
     * @param at by the node's clock
     */
    record GpusListed(List<GpuIdentity> gpus, Set<String> withdrawn, boolean complete, Instant at)
            implements LedgerFact {}

    /** Processes use these GPUs and MIG devices without an allocation, and no others; {@code at} by the node's clock. */
    record UnallocatedUse(Set<String> deviceUuids, Instant at) implements LedgerFact {}

    /** The daemon of the node sent an event; it is still there. */
    record DaemonHeard(Instant appendedAt) implements LedgerFact {}

    /**
     * The daemon has been silent for long, and its last word is that of {@code lastWord}, an append time: what is held ends
     * there, estimated. What follows is {@link IntervalQuality#UNREACHABLE} until the daemon proves it.
     */
    record DaemonSilent(Instant lastWord) implements LedgerFact {}

    /** The Node object exists. */
    record NodeObserved() implements LedgerFact {}

    /** The machine is gone: every open interval ends, at an append time. */
    record MachineGone(Instant appendedAt, IntervalEndReason reason) implements LedgerFact {
        private static final Set<IntervalEndReason> REASONS =
                Set.of(IntervalEndReason.NODE_LOST, IntervalEndReason.MACHINE_REPLACED);

        /** Rejects a reason that does not apply to a machine. */
        public MachineGone {
            if (!REASONS.contains(reason)) {
                throw new IllegalArgumentException(reason + " is no reason for a machine that is gone");
            }
        }
    }
}
