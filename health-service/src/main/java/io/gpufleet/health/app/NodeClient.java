package io.gpufleet.health.app;

import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import java.time.Duration;
import java.util.Optional;

/** Port: the Node objects of Kubernetes. {@link #read} and the patches block; none throws. */
public interface NodeClient {
    /** True once the informer has listed all Nodes. */
    boolean hasSynced();

    /** The Node in the informer's cache; empty when it is not there. */
    Optional<ObservedNode> cached(String node);

    /** Reads the Node from the API server. */
    NodeResponse read(String node);

    /** Patches taint, label and annotations in one call, if our fields of the Node are as they were observed. */
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

        /** Others changed the Node too fast for the API server. */
        record Conflict() implements NodeResponse {}

        /** A field of ours is not as it was observed, or the patch is not valid; one line. */
        record Mismatch(String reason) implements NodeResponse {}

        /** The Node does not exist. */
        record NotFound() implements NodeResponse {}

        /** The API server rejected the call, for example for missing rights; one line. */
        record Rejected(String reason) implements NodeResponse {}

        /** The call was not made, or given up, since the lease is not held. */
        record LeaseEnded() implements NodeResponse {}

        /**
         * The API server did not answer, or not now.
         *
         * @param reason one line
         * @param retryAfter how long it asked to wait; zero when it did not
         */
        record Unavailable(String reason, Duration retryAfter) implements NodeResponse {
            /** Without an answer that says when to come again. */
            public Unavailable(String reason) {
                this(reason, Duration.ZERO);
            }
        }
    }
}
