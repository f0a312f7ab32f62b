package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.NodeSettings;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Tells the log what was seen of Nodes, and not again what it was told already: a kubelet writes its Node all the time. */
public final class NodeFacts implements NodeListener {
    private record Told(
            String uid, String bootId, boolean ready, boolean unschedulable, boolean managed, NodeSettings settings) {
        static Told of(NodeObject node) {
            return new Told(
                    node.uid(),
                    node.bootId(),
                    node.ready(),
                    node.unschedulable(),
                    node.managed(),
                    NodeSettings.of(node.labels()));
        }
    }

    private final Observations log;
    private final Map<String, Told> told = new ConcurrentHashMap<>();

    /** Nothing was told yet. */
    public NodeFacts(Observations log) {
        this.log = log;
    }

    @Override
    public void seen(NodeObject node) {
        Told now = Told.of(node);
        if (!now.equals(told.put(node.name(), now))) {
            log.seen(node);
        }
    }

    @Override
    public void gone(String node, String uid) {
        told.remove(node);
        log.gone(node, uid);
    }
}
