package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerStep;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/** The ledger of the fleet: one writer, many readers of immutable node ledgers. */
public final class LedgerBook {
    private final String cluster;
    private final Map<String, NodeLedger> nodes = new ConcurrentHashMap<>();
    private final BiConsumer<String, List<GpuModel>> modelsKnown;

    /** An empty ledger; {@code modelsKnown} hears of each node's GPU models whenever they become known. */
    public LedgerBook(String cluster, BiConsumer<String, List<GpuModel>> modelsKnown) {
        this.cluster = cluster;
        this.modelsKnown = modelsKnown;
    }

    /** Folds one fact; tells the step, whose state may be the one before. */
    public LedgerStep fold(String node, LedgerFact fact) {
        LedgerStep step = ledger(node).fold(cluster, node, fact);
        restore(node, step.next());
        return step;
    }

    /** The ledger of a node; empty when nothing is known of it. */
    public NodeLedger ledger(String node) {
        return nodes.getOrDefault(node, NodeLedger.EMPTY);
    }

    /** Loads a node's state. */
    public void restore(String node, NodeLedger state) {
        NodeLedger before = nodes.put(node, state);
        if (before == null || !before.models().equals(state.models())) {
            modelsKnown.accept(node, state.models());
        }
    }

    /** A node is given up. */
    public void forget(String node) {
        nodes.remove(node);
        modelsKnown.accept(node, List.of());
    }

    /** Back to nothing. */
    public void clear() {
        nodes.clear();
    }

    /** All node ledgers by node name. */
    public Map<String, NodeLedger> all() {
        return new TreeMap<>(nodes);
    }
}
