package io.gpufleet.allocation.app;

/** Publishes facts about pods. A fact that is taken and lost on its way is logged; the next observation repairs it. */
public interface PodFactPublisher {
    /** Publishes that a pod finished, or that its object was deleted; false when this replica may not do so now. */
    boolean publish(ObservedPod pod, boolean deleted);
}
