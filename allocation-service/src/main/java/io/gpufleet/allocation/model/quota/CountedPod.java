package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuPod;

/**
 * A pod that counts on quotas: a pod of the cluster, or the reservation of an admitted pod that was not observed yet.
 *
 * @param admittedHere whether this replica admitted the pod in its current term
 * @param reservedAtNanos monotonic time of the reservation; 0 for a pod of the cluster
 */
public record CountedPod(GpuPod pod, GpuDemand demand, boolean admittedHere, long reservedAtNanos) {
    /** The same with an equal pod. */
    CountedPod withPod(GpuPod equal) {
        return new CountedPod(equal, demand, admittedHere, reservedAtNanos);
    }

    /** The same pod with another demand. */
    CountedPod withDemand(GpuDemand other) {
        return new CountedPod(pod, other, admittedHere, reservedAtNanos);
    }

    /** The same pod with a demand that counts at least as much as another. */
    public CountedPod withAtLeast(GpuDemand other) {
        return withDemand(demand.atLeast(other));
    }

    /** The same pod, admitted in an earlier term. */
    CountedPod admittedEarlier() {
        return new CountedPod(pod, demand, false, reservedAtNanos);
    }
}
