package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Committed ledgers of the fleet, for readers on any thread; one thread updates them, on the active replica and on standbys. */
public final class Ledger {
    private final Map<String, NodeLedger> nodes = new ConcurrentHashMap<>();
    private final Consumer<Map<String, List<GpuModel>>> onModelsChanged;

    /** An empty ledger; {@code onModelsChanged} receives the GPU models of the nodes whose models change. */
    public Ledger(Consumer<Map<String, List<GpuModel>>> onModelsChanged) {
        this.onModelsChanged = onModelsChanged;
    }

    /** Node ledgers were committed, and nodes given up. */
    public void committed(Map<String, NodeLedger> changed, Set<String> forgotten) {
        Map<String, List<GpuModel>> models = new LinkedHashMap<>();
        changed.forEach((node, state) -> compare(node, nodes.put(node, state), state, models));
        forgotten.forEach(node -> compare(node, nodes.remove(node), NodeLedger.EMPTY, models));
        report(models);
    }

    /** All ledgers are read anew: a node that does not come back is not known any more. */
    public void cleared() {
        committed(Map.of(), Set.copyOf(nodes.keySet()));
    }

    private static void compare(
            String node, @Nullable NodeLedger before, NodeLedger after, Map<String, List<GpuModel>> models) {
        List<GpuModel> known = before == null ? List.of() : before.gpus().models();
        if (!known.equals(after.gpus().models())) {
            models.put(node, after.gpus().models());
        }
    }

    private void report(Map<String, List<GpuModel>> models) {
        if (!models.isEmpty()) {
            onModelsChanged.accept(models);
        }
    }

    /** Sum over all nodes. */
    public long sum(ToIntFunction<NodeLedger> count) {
        long sum = 0;
        for (NodeLedger ledger : nodes.values()) {
            sum += count.applyAsInt(ledger);
        }
        return sum;
    }

    /** All node ledgers by node name. */
    public Map<String, NodeLedger> all() {
        return new TreeMap<>(nodes);
    }
}
