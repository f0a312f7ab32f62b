package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.PodAsk;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** An API server that keeps quotas and pods in memory, refuses stale writes, and can be away. */
final class FakeCluster implements Cluster {
    private final Map<String, GpuQuota> quotas = new TreeMap<>();
    private final List<PodAsk> pods = new ArrayList<>();
    private final Map<String, Boolean> labels = new TreeMap<>();
    private long version;
    private boolean away;
    private int writes;

    synchronized void put(GpuQuota quota) {
        quotas.put(quota.name(), versioned(quota));
    }

    synchronized GpuQuota quota(String name) {
        GpuQuota quota = quotas.get(name);
        if (quota == null) {
            throw new AssertionError("no quota " + name);
        }
        return quota;
    }

    synchronized void pod(PodAsk pod) {
        pods.add(pod);
    }

    synchronized void away(boolean isAway) {
        away = isAway;
    }

    synchronized int writes() {
        return writes;
    }

    synchronized Map<String, Boolean> labels() {
        return Map.copyOf(labels);
    }

    @Override
    public synchronized List<GpuQuota> quotas() throws ClusterException {
        answer();
        return List.copyOf(quotas.values());
    }

    @Override
    public synchronized List<PodAsk> gpuPods() throws ClusterException {
        answer();
        return List.copyOf(pods);
    }

    @Override
    public synchronized Written writeStatus(GpuQuota quota) throws ClusterException {
        answer();
        GpuQuota now = quotas.get(quota.name());
        if (now == null || !now.resourceVersion().equals(quota.resourceVersion())) {
            return new Written.Conflict();
        }
        writes++;
        GpuQuota written = versioned(now.with(quota.status()));
        quotas.put(quota.name(), written);
        return new Written.Done(written);
    }

    @Override
    public synchronized void labelNamespace(String namespace, boolean enforced) throws ClusterException {
        answer();
        labels.put(namespace, enforced);
    }

    private GpuQuota versioned(GpuQuota quota) {
        version++;
        return new GpuQuota(
                quota.name(),
                Long.toString(version),
                quota.namespaces(),
                quota.selector(),
                quota.limits(),
                quota.mode(),
                quota.unpinned(),
                quota.status());
    }

    private void answer() throws ClusterException {
        if (away) {
            throw new ClusterException("the API server is away");
        }
    }
}
