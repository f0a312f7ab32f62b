package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerReducer;
import io.gpufleet.allocation.model.ledger.LedgerUpdate;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/** Ledger of the fleet: one writer, many readers of immutable node ledgers. */
public final class Ledger {
    private final String cluster;
    private final Map<String, NodeLedger> nodes = new ConcurrentHashMap<>();
    private final BiConsumer<String, List<GpuModel>> onModelsChanged;

    /** An empty ledger; {@code onModelsChanged} receives the GPU models of a node whenever they change. */
    public Ledger(String cluster, BiConsumer<String, List<GpuModel>> onModelsChanged) {
        this.cluster = cluster;
        this.onModelsChanged = onModelsChanged;
    }

    /** Folds one fact into the ledger of a node; the state of the update may be the one before. */
    public LedgerUpdate fold(String node, LedgerFact fact) {
        LedgerUpdate update = LedgerReducer.fold(cluster, node, ledger(node), fact);
        restore(node, update.next());
        return update;
    }

    /** The ledger of a node; {@link NodeLedger#EMPTY} for an unknown node. */
    public NodeLedger ledger(String node) {
        return nodes.getOrDefault(node, NodeLedger.EMPTY);
    }

    /** Sets the ledger of a node. */
    public void restore(String node, NodeLedger state) {
        NodeLedger before = nodes.put(node, state);
        if (before == null || !before.gpus().models().equals(state.gpus().models())) {
            onModelsChanged.accept(node, state.gpus().models());
        }
    }

    /** Removes a node. */
    public void forget(String node) {
        nodes.remove(node);
        onModelsChanged.accept(node, List.of());
    }

    /** Removes all nodes. */
    public void clear() {
        nodes.clear();
    }

    /** All node ledgers by node name. */
    public Map<String, NodeLedger> all() {
        return new TreeMap<>(nodes);
    }
}
