package io.gpufleet.allocation.kubernetes;

import io.gpufleet.allocation.app.ObservedPod;
import io.gpufleet.allocation.app.quota.ClusterListener;
import io.gpufleet.allocation.app.quota.ClusterSyncPrecondition;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import java.util.Map;
import org.jspecify.annotations.NullMarked;

/** Looks for an object that has a name or a label. */
@NullMarked
final class SeenObjects implements ClusterListener {
    private final String wanted;
    private volatile boolean found;

    SeenObjects(String wanted) {
        this.wanted = wanted;
    }

    /** True once a watch has brought it. */
    boolean found() {
        return found;
    }

    private void see(String object) {
        if (object.contains(wanted)) {
            found = true;
        }
    }

    @Override
    public void podUpdated(ObservedPod pod) {
        see(pod.toString());
    }

    @Override
    public void podDeleted(ObservedPod pod) {}

    @Override
    public void claimUpdated(GpuPod claim) {
        see(claim.toString());
    }

    @Override
    public void claimDeleted(String uid) {}

    @Override
    public void nodeUpdated(NodeInfo node) {
        see(node.toString());
    }

    @Override
    public void nodeDeleted(String name) {}

    @Override
    public void namespaceUpdated(String name, Map<String, String> labels) {
        see(labels.toString());
    }

    @Override
    public void namespaceDeleted(String name) {}

    @Override
    public void listed(ClusterSyncPrecondition input) {}
}
