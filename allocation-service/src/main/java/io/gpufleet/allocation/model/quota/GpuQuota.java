package io.gpufleet.allocation.model.quota;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A quota: how many GPUs of which model a set of namespaces may hold together.
 *
 * @param resourceVersion version of the object that this was read from; a write of the status needs it
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
        Unpinned unpinned,
        QuotaStatus status) {
    /** What happens to a pod beyond the limit. */
    public enum Mode {
        /** It is refused. */
        ENFORCE,
        /** It is admitted with a warning. */
        WARN
    }

    /** What happens to a pod that could run on several models. */
    public enum Unpinned {
        /** It is refused with the word to name a model. */
        DENY,
        /** It counts on every model it could run on, until it is bound. */
        LARGEST
    }

    /** Copies. */
    public GpuQuota {
        namespaces = Set.copyOf(namespaces);
        limits = List.copyOf(limits);
    }

    /** True when the namespace belongs to it. */
    public boolean covers(String namespace, Map<String, String> labels) {
        return namespaces.contains(namespace) || selector.selects(labels);
    }

    /** The same quota with another status. */
    public GpuQuota with(QuotaStatus next) {
        return new GpuQuota(name, resourceVersion, namespaces, selector, limits, mode, unpinned, next);
    }
}
