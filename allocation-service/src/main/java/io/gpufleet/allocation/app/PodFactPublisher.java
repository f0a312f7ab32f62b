package io.gpufleet.allocation.app;

/** Publishes facts about pods. Does not block; a failure is logged, the next observation of the pod repairs it. */
public interface PodFactPublisher {
    /** Publishes that a pod finished, or that its object was deleted. */
    void publish(ObservedPod pod, boolean deleted);
}
