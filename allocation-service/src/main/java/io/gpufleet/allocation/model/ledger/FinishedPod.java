package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.holding.Holder;
import java.time.Instant;

/** A finished pod, with its end by the node's clock. */
public record FinishedPod(String namespace, String pod, String podUid, Instant finishedAt) {
    /** True when the holder is this pod: by UID, or by name if a UID is unknown and the holder started before the end. */
    boolean matches(Holder holder, Instant from) {
        if (!holder.namespace().equals(namespace) || !holder.pod().equals(pod)) {
            return false;
        }
        if (!podUid.isEmpty() && !holder.podUid().isEmpty()) {
            return podUid.equals(holder.podUid());
        }
        return !finishedAt.isBefore(from);
    }
}
