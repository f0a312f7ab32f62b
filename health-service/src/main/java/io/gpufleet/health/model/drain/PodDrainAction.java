package io.gpufleet.health.model.drain;

import java.time.Instant;

/** Action on a pod of a node that is drained. */
public sealed interface PodDrainAction {
    /** The pod. */
    PodOnNode pod();

    /** It stays, and nobody waits for it. */
    record Leave(PodOnNode pod, String reason) implements PodDrainAction {}

    /** It is going, or has to wait. */
    record Wait(PodOnNode pod, Instant until) implements PodDrainAction {}

    /** Its job may not lose a pod on this node yet. */
    record AskForJob(PodOnNode pod) implements PodDrainAction {}

    /** It gets its notice. */
    record Notify(PodOnNode pod, Instant evictionAt) implements PodDrainAction {}

    /** Its eviction is asked for. */
    record Evict(PodOnNode pod) implements PodDrainAction {}

    /** It is deleted, since the deadline is over. */
    record Delete(PodOnNode pod) implements PodDrainAction {}
}
