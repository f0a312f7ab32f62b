package io.gpufleet.health.app;

import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import java.util.Optional;

/** Port: the Node objects of Kubernetes. {@link #read} and the patches block; none throws. */
public interface NodeClient {
    /** True once the informer has listed all Nodes. */
    boolean hasSynced();

    /** The Node in the informer's cache; empty when it is not there. */
    Optional<ObservedNode> cached(String node);

    /** Reads the Node from the API server. */
    NodeResponse read(String node);

    /** Patches taints, label and annotations in one call, if the Node did not change since it was observed. */
    NodeResponse patchNode(ObservedNode observed, NodePatchPlan.Patch patch);

    /** Patches the condition {@code GpuUnhealthy}. */
    NodeResponse patchCondition(ObservedNode observed, Condition condition);

    /** Records a Kubernetes Event in the background; repeated ones are counted in one Event. */
    void recordEvent(ObservedNode node, boolean warning, String reason, String message);

    /** Opens the connection and loads code, so that the first patch takes no longer than the next; changes nothing. */
    void warmUp();

    /** Response of the API server. */
    sealed interface NodeResponse {
        /** The Node after the call. */
        record Succeeded(ObservedNode node) implements NodeResponse {}

        /** The Node changed since it was observed. */
        record Conflict() implements NodeResponse {}

        /** The Node does not exist. */
        record NotFound() implements NodeResponse {}

        /** The API server rejected the call, for example for missing rights; one line. */
        record Rejected(String reason) implements NodeResponse {}

        /** The call was not made, since the lease is not held. */
        record LeaseEnded() implements NodeResponse {}

        /** The API server did not answer; one line. */
        record Unavailable(String reason) implements NodeResponse {}
    }
}
