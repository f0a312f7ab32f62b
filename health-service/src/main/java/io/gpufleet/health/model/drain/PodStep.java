package io.gpufleet.health.model.drain;

import java.time.Instant;

/** What happens to a pod of a node that is drained. */
public sealed interface PodStep {
    /** The pod. */
    PodOnNode pod();

    /** It stays, and nobody waits for it. */
    record Leave(PodOnNode pod, String reason) implements PodStep {}

    /** It is going, or has to wait. */
    record Wait(PodOnNode pod, Instant until) implements PodStep {}

    /** Its job may not lose a pod on this node yet. */
    record AskForJob(PodOnNode pod) implements PodStep {}

    /** It gets its notice. */
    record Notify(PodOnNode pod, Instant evictionAt) implements PodStep {}

    /** Its eviction is asked for. */
    record Evict(PodOnNode pod) implements PodStep {}

    /** It is deleted, since the deadline is over. */
    record Delete(PodOnNode pod) implements PodStep {}
}
