package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Committed ledgers of the fleet, for readers on any thread; one thread updates them, on the active replica and on standbys. */
public final class Ledger {
    private final Map<String, NodeLedger> nodes = new ConcurrentHashMap<>();
    private final BiConsumer<String, List<GpuModel>> onModelsChanged;

    /** An empty ledger; {@code onModelsChanged} receives the GPU models of a node whenever they change. */
    public Ledger(BiConsumer<String, List<GpuModel>> onModelsChanged) {
        this.onModelsChanged = onModelsChanged;
    }

    /** Node ledgers were committed, and nodes given up. */
    public void committed(Map<String, NodeLedger> changed, Set<String> forgotten) {
        changed.forEach((node, state) -> modelsChanged(node, nodes.put(node, state), state));
        forgotten.forEach(this::remove);
    }

    /** All ledgers are read anew: a node that does not come back is not known any more. */
    public void cleared() {
        List.copyOf(nodes.keySet()).forEach(this::remove);
    }

    private void remove(String node) {
        modelsChanged(node, nodes.remove(node), NodeLedger.EMPTY);
    }

    private void modelsChanged(String node, @Nullable NodeLedger before, NodeLedger after) {
        List<GpuModel> known = before == null ? List.of() : before.gpus().models();
        if (!known.equals(after.gpus().models())) {
            onModelsChanged.accept(node, after.gpus().models());
        }
    }

    /** All node ledgers by node name. */
    public Map<String, NodeLedger> all() {
        return new TreeMap<>(nodes);
    }
}
