package io.gpufleet.allocation.model.ledger;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the ledger is told of a node. */
public sealed interface LedgerFact {
    /** Allocate was answered; {@code at} by the node's clock. */
    record Allocated(
            String bootId, String resource, List<String> deviceIds, Instant at, Instant appendedAt, Stamp stamp)
            implements LedgerFact {}

    /**
     * Everybody who holds a device.
     *
     * @param complete false right after a kubelet started: what it lists is held, what is missing may be held too
     * @param clockAheadMillis how far the node's clock is ahead of the log's
     */
    record Snapshot(
            String bootId,
            List<Holding> holdings,
            boolean complete,
            Instant at,
            Instant appendedAt,
            long clockAheadMillis,
            Stamp stamp)
            implements LedgerFact {}

    /** A pod is over; {@code finishedAt} by the node's clock. */
    record PodEnded(EndedPod pod) implements LedgerFact {}

    /** Devices that are not trusted now, each since an append time; all others are trusted. */
    record TrustChanged(Map<String, Instant> untrustedSince, Instant appendedAt) implements LedgerFact {}

    /** What the node has. */
    record GpusAnnounced(List<GpuModel> models, Map<String, String> migParents) implements LedgerFact {}

    /** The machine is gone: what was open ends with that, at an append time. */
    record MachineGone(Instant appendedAt, EndReason reason) implements LedgerFact {
        private static final Set<EndReason> REASONS = Set.of(EndReason.NODE_LOST, EndReason.MACHINE_REPLACED);

        /** Refuses a reason that is none of a machine. */
        public MachineGone {
            if (!REASONS.contains(reason)) {
                throw new IllegalArgumentException("a machine does not go because of " + reason);
            }
        }
    }
}
