package io.gpufleet.nodedaemon.model.preferred;

import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Remembers what another search chose, which depends on its arguments alone: pods of one kind ask for the same again and again. */
final class RememberedSearch implements GpuSubsetSearch {
    /** Many times what the free GPUs of one node are in a day; beyond that nothing is remembered. */
    private static final int MAX_REMEMBERED = 1_000;

    private final GpuSubsetSearch search;
    private final Map<Choice, BitSet> chosen = new ConcurrentHashMap<>();

    private record Choice(BitSet must, BitSet free, int count) {}

    RememberedSearch(GpuSubsetSearch search) {
        this.search = search;
    }

    @Override
    public BitSet choose(BitSet must, BitSet free, int count) {
        BitSet known = chosen.get(new Choice(must, free, count));
        if (known != null) {
            return copy(known);
        }
        BitSet found = search.choose(must, free, count);
        if (chosen.size() < MAX_REMEMBERED) {
            chosen.put(new Choice(copy(must), copy(free), count), copy(found));
        }
        return found;
    }

    private static BitSet copy(BitSet gpus) {
        return (BitSet) gpus.clone();
    }
}
