package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.LabelSelector;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A quota: the GPUs of each model that a set of namespaces may use together.
 *
 * @param resourceVersion version of the object that was read; an update of the status requires it
 * @param namespaces namespaces by name
 * @param selector namespaces by label, in addition
 */
public record GpuQuota(
        String name,
        String resourceVersion,
        Set<String> namespaces,
        LabelSelector selector,
        List<QuotaLimit> limits,
        Mode mode,
        AmbiguousModel ambiguousModel,
        QuotaStatus status) {
    /** Treatment of a pod beyond a limit. */
    public enum Mode {
        /** The pod is denied. */
        ENFORCE,
        /** The pod is admitted with a warning. */
        WARN
    }

    /** Treatment of a pod that could run on several models. */
    public enum AmbiguousModel {
        /** The pod is denied; the message asks for a model. */
        DENY,
        /** The pod counts on every model it could run on, until it is bound. */
        COUNT_EACH
    }

    /** Copies. */
    public GpuQuota {
        namespaces = Set.copyOf(namespaces);
        limits = List.copyOf(limits);
    }

    /** True when the quota covers the namespace. */
    public boolean covers(String namespace, Map<String, String> labels) {
        return namespaces.contains(namespace) || selector.selects(labels);
    }

    /** True when both quotas count the same pods on the same limits. */
    boolean countsLike(GpuQuota other) {
        return namespaces.equals(other.namespaces) && selector.equals(other.selector) && limits.equals(other.limits);
    }

    /** The same quota with another status. */
    public GpuQuota withStatus(QuotaStatus next) {
        return new GpuQuota(name, resourceVersion, namespaces, selector, limits, mode, ambiguousModel, next);
    }
}
