package io.gpufleet.allocation.app;

/** Tells the log what was seen of a pod. Does not block; trouble is logged and healed by the next sight. */
public interface PodFacts {
    /** A pod ended, or its object is gone. */
    void tell(ObservedPod pod, boolean deleted);
}
