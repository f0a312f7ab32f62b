package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.NodeSettings;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Publishes changes of Nodes; updates that change none of the published fields, as kubelets write them, are dropped. */
public final class NodeChangePublisher implements NodeListener {
    private record PublishedNode(
            String uid, String bootId, boolean ready, boolean unschedulable, boolean managed, NodeSettings settings) {
        static PublishedNode of(NodeObject node) {
            return new PublishedNode(
                    node.uid(),
                    node.bootId(),
                    node.ready(),
                    node.unschedulable(),
                    node.managed(),
                    NodeSettings.of(node.labels()));
        }
    }

    private final SignalSink signals;
    private final Map<String, PublishedNode> published = new ConcurrentHashMap<>();

    /** A publisher that has published nothing yet. */
    public NodeChangePublisher(SignalSink signals) {
        this.signals = signals;
    }

    @Override
    public void onChanged(NodeObject node) {
        PublishedNode now = PublishedNode.of(node);
        if (!now.equals(published.put(node.name(), now))) {
            signals.nodeObserved(node);
        }
    }

    @Override
    public void onDeleted(String node, String uid) {
        published.remove(node);
        signals.nodeDeleted(node, uid);
    }
}
