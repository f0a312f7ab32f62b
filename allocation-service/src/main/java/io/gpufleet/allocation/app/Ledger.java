package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Committed ledgers of the fleet, for readers on any thread; one thread updates them, on the active replica and on standbys. */
public final class Ledger {
    private final NavigableMap<String, NodeLedger> nodes = new ConcurrentSkipListMap<>();
    private final Consumer<Map<String, AnnouncedGpus>> onGpusChanged;

    /** An empty ledger; {@code onGpusChanged} receives the GPUs of the nodes whose announcement changes. */
    public Ledger(Consumer<Map<String, AnnouncedGpus>> onGpusChanged) {
        this.onGpusChanged = onGpusChanged;
    }

    /** Node ledgers were committed, and nodes given up. */
    public void committed(Map<String, NodeLedger> changed, Set<String> forgotten) {
        Map<String, AnnouncedGpus> gpus = new LinkedHashMap<>();
        changed.forEach((node, state) -> compare(node, nodes.put(node, state), state, gpus));
        forgotten.forEach(node -> compare(node, nodes.remove(node), NodeLedger.EMPTY, gpus));
        report(gpus);
    }

    /** All ledgers are read anew: a node that does not come back is not known any more. */
    public void cleared() {
        committed(Map.of(), Set.copyOf(nodes.keySet()));
    }

    private static void compare(
            String node, @Nullable NodeLedger before, NodeLedger after, Map<String, AnnouncedGpus> gpus) {
        AnnouncedGpus known = before == null ? AnnouncedGpus.NONE : before.gpus();
        if (!known.equals(after.gpus())) {
            gpus.put(node, after.gpus());
        }
    }

    private void report(Map<String, AnnouncedGpus> gpus) {
        if (!gpus.isEmpty()) {
            onGpusChanged.accept(gpus);
        }
    }

    /** True when the ledger of the node has owner and labels of the pod. */
    public boolean knowsPod(String node, String podUid) {
        NodeLedger ledger = nodes.get(node);
        return ledger != null && ledger.knowsPod(podUid);
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
        // One by one: the constructor of TreeMap asks a sorted map for its size, which may be another one a moment
        // later.
        Map<String, NodeLedger> all = new TreeMap<>();
        nodes.forEach(all::put);
        return all;
    }

    /** Node ledgers from a node name on, in the order of the names; follows what is committed meanwhile. */
    NavigableMap<String, NodeLedger> from(String node) {
        return Collections.unmodifiableNavigableMap(nodes.tailMap(node, true));
    }
}
