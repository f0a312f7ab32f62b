package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.util.Set;

/**
 * A pod that counts on quotas: a pod of the cluster, or the reservation of an admitted pod that was not observed yet.
 *
 * @param models short names of the GPU models that the pod may run on
 * @param admittedHere whether this replica admitted the pod in its current term
 * @param reservedAtNanos monotonic time of the reservation; 0 for a pod of the cluster
 */
public record CountedPod(GpuPod pod, int gpus, Set<String> models, boolean admittedHere, long reservedAtNanos) {
    /** The same pod with other models. */
    CountedPod withModels(Set<String> others) {
        return new CountedPod(pod, gpus, others, admittedHere, reservedAtNanos);
    }

    /** The same pod of the cluster with another number of GPUs. */
    CountedPod withGpus(int other) {
        return new CountedPod(pod, other, models, admittedHere, reservedAtNanos);
    }

    /** The same pod with at least so many GPUs. */
    public CountedPod withAtLeast(int other) {
        return other <= gpus ? this : new CountedPod(pod, other, models, admittedHere, reservedAtNanos);
    }

    /** The same pod of the cluster, admitted in an earlier term. */
    CountedPod admittedEarlier() {
        return new CountedPod(pod, gpus, models, false, 0);
    }
}
