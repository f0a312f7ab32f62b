package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ObservedPod;
import io.gpufleet.allocation.app.PodReporter;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import java.util.Map;
import java.util.function.Supplier;

/** Passes the events of the cluster to the quota decider, and those of pods with GPUs to their reporter as well. */
public final class ClusterEventRouter implements ClusterListener {
    private final QuotaDecider decider;
    private final PodReporter podReporter;
    private final Supplier<GpuResources> resources;

    /** Routes to these two; {@code resources} are the GPUs that are known now. */
    public ClusterEventRouter(QuotaDecider decider, PodReporter podReporter, Supplier<GpuResources> resources) {
        this.decider = decider;
        this.podReporter = podReporter;
        this.resources = resources;
    }

    @Override
    public void podUpdated(ObservedPod pod) {
        decider.podObserved(pod.gpuPod());
        if (hasGpus(pod)) {
            podReporter.podUpdated(pod);
        }
    }

    @Override
    public void podDeleted(ObservedPod pod) {
        decider.observe(new QuotaEvent.PodDeleted(pod.gpuPod().uid()));
        if (hasGpus(pod)) {
            podReporter.podDeleted(pod);
        }
    }

    @Override
    public void claimUpdated(GpuPod claim) {
        decider.podObserved(claim);
    }

    @Override
    public void claimDeleted(String uid) {
        decider.observe(new QuotaEvent.PodDeleted(uid));
    }

    private boolean hasGpus(ObservedPod pod) {
        return resources.get().requestedBy(pod.gpuPod().containers());
    }

    @Override
    public void nodeUpdated(NodeInfo node) {
        decider.observe(new QuotaEvent.NodeObserved(node));
    }

    @Override
    public void nodeDeleted(String name) {
        decider.observe(new QuotaEvent.NodeDeleted(name));
    }

    @Override
    public void namespaceUpdated(String name, Map<String, String> labels) {
        decider.observe(new QuotaEvent.NamespaceObserved(name, labels));
    }

    @Override
    public void namespaceDeleted(String name) {
        decider.observe(new QuotaEvent.NamespaceDeleted(name));
    }

    @Override
    public void listed(ClusterSyncPrecondition input) {
        decider.listed(input);
    }
}
