package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.util.List;

/**
 * Kubernetes as the quota leader needs it. All calls block; reads are quorum reads, never from a cache. A write that is
 * not covered by the lease of the active replica fails.
 */
public interface QuotaClient {
    /** Lists all quotas. */
    List<GpuQuota> quotas() throws ApiServerException;

    /** Lists all pods that request GPUs, the terminal ones included. */
    List<GpuPod> gpuPods() throws ApiServerException;

    /** Updates the status of a quota, unless the object changed since it was read. */
    UpdateResult updateStatus(GpuQuota quota) throws ApiServerException;

    /** Sets or removes the label that makes the webhook fail closed in a namespace. */
    void labelNamespace(String namespace, boolean enforced) throws ApiServerException;

    /** Result of an update by resourceVersion. */
    sealed interface UpdateResult {
        /** The update succeeded; the object after it. */
        record Updated(GpuQuota quota) implements UpdateResult {}

        /** The object had changed; nothing was written. */
        record Conflict() implements UpdateResult {}
    }
}
