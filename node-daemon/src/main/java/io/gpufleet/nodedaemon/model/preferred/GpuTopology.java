package io.gpufleet.nodedaemon.model.preferred;

import io.gpufleet.nodedaemon.model.device.Gpu;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The GPUs of a node with everything that is precomputed for them. */
record GpuTopology(List<Gpu> gpus, Map<String, Integer> indexByUuid, GpuPairScores affinity, GpuSubsetSearch search) {
    /** Computes the topology of a list of GPUs. */
    static GpuTopology of(List<Gpu> gpus) {
        var positions = new HashMap<String, Integer>();
        for (Gpu gpu : gpus) {
            positions.put(gpu.uuid(), positions.size());
        }
        var affinity = new GpuPairScores(gpus);
        return new GpuTopology(gpus, Map.copyOf(positions), affinity, searchFor(affinity));
    }

    private static GpuSubsetSearch searchFor(GpuPairScores affinity) {
        return new RememberedSearch(
                affinity.size() <= ExactSubsetSearch.MAX_GPUS
                        ? new ExactSubsetSearch(affinity)
                        : new GreedySubsetSearch(affinity));
    }

    /** Number of GPUs. */
    int size() {
        return gpus.size();
    }

    /** Returns the position of a GPU; -1 when it is not part of this topology. */
    int indexOf(String uuid) {
        return indexByUuid.getOrDefault(uuid, -1);
    }

    /** Chooses the positions to add to {@code must}. */
    BitSet choose(BitSet must, BitSet free, int count) {
        return search.choose(must, free, count);
    }
}
