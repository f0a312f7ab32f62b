package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.PodAsk;
import java.util.List;

/** What the quota desk needs of Kubernetes. All calls block; reads are quorum reads, never a cache. */
public interface Cluster {
    /** Every quota as it stands. */
    List<GpuQuota> quotas() throws ClusterException;

    /** Every pod that asks for GPUs, the terminal ones included. */
    List<PodAsk> gpuPods() throws ClusterException;

    /** Writes the status if nobody wrote the object since it was read. */
    Written writeStatus(GpuQuota quota) throws ClusterException;

    /** Sets or takes away the label that makes the webhook of a namespace fail closed. */
    void labelNamespace(String namespace, boolean enforced) throws ClusterException;

    /** What became of a compare-and-set. */
    sealed interface Written {
        /** Done; the object as it stands now. */
        record Done(GpuQuota quota) implements Written {}

        /** Somebody else wrote it in between. */
        record Conflict() implements Written {}
    }
}
