package io.gpufleet.nodedaemon.model.preferred;

import java.util.BitSet;

/** Finds the best set of GPUs, each given by its position in the list of the {@link GpuPairScores}. */
interface GpuSubsetSearch {
    /**
     * Chooses the positions to add to the required ones.
     *
     * @param must required positions
     * @param free positions to choose from, none of {@code must}
     * @param count how many to choose, from 1 to the size of {@code free}
     */
    BitSet choose(BitSet must, BitSet free, int count);
}
