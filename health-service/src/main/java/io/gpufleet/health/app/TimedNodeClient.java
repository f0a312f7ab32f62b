package io.gpufleet.health.app;

import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import java.util.Optional;

/** Times each patch of a Node, and when the watch has its result. */
public final class TimedNodeClient implements NodeClient {
    private final NodeClient nodes;
    private final VerdictToNodeLatency timings;

    /** Times the patches of another client. */
    public TimedNodeClient(NodeClient nodes, VerdictToNodeLatency timings) {
        this.nodes = nodes;
        this.timings = timings;
    }

    /** Passes the changes of Nodes on, after it has looked for patches among them. */
    public NodeListener before(NodeListener next) {
        return new NodeListener() {
            @Override
            public void nodeChanged(String node) {
                nodes.cached(node)
                        .ifPresent(
                                found -> timings.watched(node, found.applied().revision()));
                next.nodeChanged(node);
            }

            @Override
            public void nodeDeleted(String node, String uid) {
                timings.forget(node);
                next.nodeDeleted(node, uid);
            }
        };
    }

    @Override
    public NodeResponse patchNode(ObservedNode observed, NodePatchPlan.Patch patch) {
        long sent = timings.sending();
        NodeResponse response = nodes.patchNode(observed, patch);
        if (response instanceof NodeResponse.Succeeded) {
            timings.acked(observed.name(), patch.applied().revision(), sent);
        }
        return response;
    }

    @Override
    public boolean hasSynced() {
        return nodes.hasSynced();
    }

    @Override
    public Optional<ObservedNode> cached(String node) {
        return nodes.cached(node);
    }

    @Override
    public NodeResponse read(String node) {
        return nodes.read(node);
    }

    @Override
    public NodeResponse patchCondition(ObservedNode observed, Condition condition) {
        return nodes.patchCondition(observed, condition);
    }

    @Override
    public void recordEvent(ObservedNode node, boolean warning, String reason, String message) {
        nodes.recordEvent(node, warning, reason, message);
    }

    @Override
    public void warmUp() {
        nodes.warmUp();
    }
}
