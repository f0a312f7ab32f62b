package io.gpufleet.nodedaemon.model.preferred;

import io.gpufleet.nodedaemon.model.Gpu;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The GPUs of a node with all that is computed of them in advance. */
record Topology(List<Gpu> gpus, Map<String, Integer> places, Affinity affinity, SubsetSearch search) {
    /** Computes. */
    static Topology of(List<Gpu> gpus) {
        var places = new HashMap<String, Integer>();
        for (Gpu gpu : gpus) {
            places.put(gpu.uuid(), places.size());
        }
        var affinity = new Affinity(gpus);
        return new Topology(gpus, Map.copyOf(places), affinity, SubsetSearch.of(affinity));
    }

    /** Number of GPUs. */
    int size() {
        return gpus.size();
    }

    /** The place of a GPU of this topology. */
    int place(String uuid) {
        return places.getOrDefault(uuid, -1);
    }

    /** The places to add to {@code must}. */
    BitSet choose(BitSet must, BitSet free, int count) {
        return search.choose(must, free, count);
    }
}
