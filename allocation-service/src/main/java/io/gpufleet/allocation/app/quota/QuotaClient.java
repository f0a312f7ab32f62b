package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Kubernetes as the quota leader needs it. All calls block; reads are quorum reads, never from a cache. A write that is
 * not covered by the lease of the leader fails.
 */
public interface QuotaClient {
    /**
     * Quotas of the cluster; {@code unreadable} are those whose specification has no meaning. One of them that had one before is
     * among the others too, with its last limits: pods that they would refuse are not admitted because of a mistake.
     */
    record QuotaList(List<GpuQuota> quotas, List<QuotaProblem> unreadable) {
        /** Copies. */
        public QuotaList {
            quotas = List.copyOf(quotas);
            unreadable = List.copyOf(unreadable);
        }
    }

    /** Why a quota, or what its specification is now, is not in force. */
    record QuotaProblem(String quota, String reason) {}

    /** Lists all quotas. */
    QuotaList quotas() throws ApiServerException;

    /** Reads a quota; empty when it does not exist, or is unreadable and always was. */
    Optional<GpuQuota> quota(String name) throws ApiServerException;

    /** Lists all pods that request extended resources, the terminal ones included, and hands them over page by page. */
    void gpuPods(Consumer<List<GpuPod>> page) throws ApiServerException;

    /** Updates the status of a quota, unless the object changed since it was read. */
    UpdateResult updateStatus(GpuQuota quota) throws ApiServerException;

    /** Writes the condition Ready=False with the reason into the status of a quota. */
    void reportProblem(QuotaProblem problem) throws ApiServerException;

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
