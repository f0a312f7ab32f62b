package io.gpufleet.allocation.model.ledger;

import java.time.Instant;

/** A pod whose end is known, by the node's clock. */
public record EndedPod(String namespace, String pod, String podUid, Instant finishedAt) {
    /** True when the holder is this pod: by UID, or by name where a UID is unknown and it began before the end. */
    boolean covers(Holder holder, Instant from) {
        if (!holder.namespace().equals(namespace) || !holder.pod().equals(pod)) {
            return false;
        }
        if (!podUid.isEmpty() && !holder.podUid().isEmpty()) {
            return podUid.equals(holder.podUid());
        }
        return !finishedAt.isBefore(from);
    }
}
