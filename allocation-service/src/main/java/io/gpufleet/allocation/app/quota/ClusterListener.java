package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ObservedPod;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import java.util.Map;

/** Receives the events of the watches on pods that request extended resources, ResourceClaims, Nodes and namespaces. */
public interface ClusterListener {
    /** A pod was added or changed. */
    void podUpdated(ObservedPod pod);

    /** A pod was deleted; this is its last known state. */
    void podDeleted(ObservedPod pod);

    /** A ResourceClaim was added or changed, here as a pod that requests its devices. */
    void claimUpdated(GpuPod claim);

    /** A ResourceClaim was deleted. */
    void claimDeleted(String uid);

    /** A Node was added or changed. */
    void nodeUpdated(NodeInfo node);

    /** A Node was deleted. */
    void nodeDeleted(String name);

    /** A namespace was added or changed. */
    void namespaceUpdated(String name, Map<String, String> labels);

    /** A namespace was deleted. */
    void namespaceDeleted(String name);

    /** All objects of a kind were handed over that existed when they were listed first. */
    void listed(ClusterSyncPrecondition input);
}
