package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Working copy of a {@link GpuModelIndex} while one batch of events is applied: a map of every node is copied once for a
 * batch, not for each of its events.
 */
final class MutableGpuModelIndex {
    private final GpuModelIndex before;
    private final CopyOnWrite<Map<String, NodeInfo>> nodes;
    private final CopyOnWrite<Map<String, List<GpuModel>>> modelsByNode;
    private final CopyOnWrite<Map<String, String>> shortModelByProduct;
    private boolean changed;

    MutableGpuModelIndex(GpuModelIndex before) {
        this.before = before;
        this.nodes = new CopyOnWrite<>(before.nodes(), HashMap::new);
        this.modelsByNode = new CopyOnWrite<>(before.modelsByNode(), HashMap::new);
        this.shortModelByProduct = new CopyOnWrite<>(before.shortModelByProduct(), HashMap::new);
    }

    /** A Node object was observed. */
    MutableGpuModelIndex withNode(NodeInfo node) {
        if (!node.equals(nodes.read().get(node.name()))) {
            nodes.write().put(node.name(), node);
            changed = true;
        }
        return this;
    }

    /** A Node object was deleted. */
    MutableGpuModelIndex withoutNode(String name) {
        if (nodes.read().containsKey(name)) {
            nodes.write().remove(name);
            changed = true;
        }
        return this;
    }

    /** The daemon of a node announced its models; none when the node is not known any more. */
    MutableGpuModelIndex withModels(String node, List<GpuModel> models) {
        if (models.equals(modelsByNode.read().getOrDefault(node, List.of()))) {
            return this;
        }
        changed = true;
        if (models.isEmpty()) {
            modelsByNode.write().remove(node);
        } else {
            modelsByNode.write().put(node, List.copyOf(models));
        }
        for (GpuModel model : models) {
            String product = model.model().replace(' ', '-');
            if (!model.shortModel().equals(shortModelByProduct.read().get(product))) {
                shortModelByProduct.write().put(product, model.shortModel());
            }
        }
        return this;
    }

    /** True when an event had an effect. */
    boolean changed() {
        return changed;
    }

    /** The index after the events so far, the same one where they had no effect; no event may follow while it is used. */
    GpuModelIndex toIndex() {
        return changed ? new GpuModelIndex(nodes.read(), modelsByNode.read(), shortModelByProduct.read()) : before;
    }
}
