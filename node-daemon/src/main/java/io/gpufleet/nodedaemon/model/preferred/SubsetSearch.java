package io.gpufleet.nodedaemon.model.preferred;

import java.util.BitSet;

/** Finds the best set of GPUs, each known by its place in the list that the {@link Affinity} was made of. */
sealed interface SubsetSearch permits ExactSearch, GreedySearch {
    /**
     * The places to add to those that are in anyway.
     *
     * @param must places that are in anyway
     * @param free places to choose from, none of {@code must}
     * @param count how many to choose, from 1 to the size of {@code free}
     */
    BitSet choose(BitSet must, BitSet free, int count);

    /** The search that suits the number of GPUs. */
    static SubsetSearch of(Affinity affinity) {
        return affinity.size() <= ExactSearch.MOST ? new ExactSearch(affinity) : new GreedySearch(affinity);
    }
}
