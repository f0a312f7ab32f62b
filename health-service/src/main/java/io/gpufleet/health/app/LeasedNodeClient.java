package io.gpufleet.health.app;

import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import java.util.Optional;

/** Makes each call only while the lease is held; the end of the term gives up what hangs. */
final class LeasedNodeClient implements NodeClient {
    private final NodeClient nodes;
    private final CurrentLease lease;

    LeasedNodeClient(NodeClient nodes, CurrentLease lease) {
        this.nodes = nodes;
        this.lease = lease;
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
        return lease.call(() -> nodes.read(node), NodeResponse.LeaseEnded::new);
    }

    @Override
    public NodeResponse patchNode(ObservedNode observed, NodePatchPlan.Patch patch) {
        return lease.call(() -> nodes.patchNode(observed, patch), NodeResponse.LeaseEnded::new);
    }

    @Override
    public NodeResponse patchCondition(ObservedNode observed, Condition condition) {
        return lease.call(() -> nodes.patchCondition(observed, condition), NodeResponse.LeaseEnded::new);
    }

    @Override
    public void recordEvent(ObservedNode node, boolean warning, String reason, String message) {
        var _ = lease.call(
                () -> {
                    nodes.recordEvent(node, warning, reason, message);
                    return true;
                },
                () -> false);
    }

    @Override
    public void warmUp() {
        var _ = lease.call(
                () -> {
                    nodes.warmUp();
                    return true;
                },
                () -> false);
    }
}
