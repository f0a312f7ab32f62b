package io.gpufleet.nodedaemon.model.preferred;

import java.util.BitSet;

/**
 * Compares all subsets. Sums and cliques of all 2ⁿ sets are precomputed in tables (576 KiB for 16 GPUs, 2.3 KiB for 8), so that
 * a call only reads them: 12,870 sets for 8 of 16.
 */
final class ExactSubsetSearch implements GpuSubsetSearch {
    /** Maximum number of GPUs for which all subsets are compared. */
    static final int MAX_GPUS = 16;

    /** Above the measured sum of sixteen GPUs, which has 55 bits; a clique of sixteen has 5. */
    private static final int CLIQUE_SHIFT = 56;

    private final GpuPairScores affinity;
    private final long[] sums;
    private final byte[] cliques;

    /** Fills the tables; every entry follows from smaller sets in one step. */
    ExactSubsetSearch(GpuPairScores affinity) {
        this.affinity = affinity;
        int sets = 1 << affinity.size();
        sums = new long[sets];
        cliques = new byte[sets];
        int[] linked = linked(affinity);
        for (int set = 1; set < sets; set++) {
            int first = set & -set;
            int others = set ^ first;
            int position = Integer.numberOfTrailingZeros(first);
            cliques[set] = (byte) Math.max(cliques[others], 1 + cliques[others & linked[position]]);
            if (others != 0) {
                int second = others & -others;
                sums[set] = sums[others]
                        + sums[set ^ second]
                        - sums[others ^ second]
                        + affinity.between(position, Integer.numberOfTrailingZeros(second));
            }
        }
    }

    private static int[] linked(GpuPairScores affinity) {
        int[] linked = new int[affinity.size()];
        for (int a = 0; a < linked.length; a++) {
            for (int b = 0; b < linked.length; b++) {
                linked[a] |= affinity.linked(a, b) ? 1 << b : 0;
            }
        }
        return linked;
    }

    @Override
    public BitSet choose(BitSet must, BitSet free, int count) {
        return BitSet.valueOf(new long[] {choose(mask(must), mask(free), count)});
    }

    private static int mask(BitSet positions) {
        return positions.stream().map(position -> 1 << position).sum();
    }

    private int choose(int must, int free, int count) {
        int[] lowest = lowest(free, count);
        int best = lowest[count];
        for (int pick = after(best, free, lowest); pick != 0; pick = after(pick, free, lowest)) {
            if (better(must, free, pick, best)) {
                best = pick;
            }
        }
        return best;
    }

    /** Compares the affinity of the chosen set first, then that of the remaining GPUs, and hints last. */
    private boolean better(int must, int free, int pick, int best) {
        long mine = sums[must | pick];
        long bests = sums[must | best];
        long diff = affinity.measured(mine) - affinity.measured(bests);
        if (diff != 0) {
            return diff > 0;
        }
        int left = free & ~pick;
        int bestLeft = free & ~best;
        diff = remainingScore(left) - remainingScore(bestLeft);
        if (diff != 0) {
            return diff > 0;
        }
        return affinity.hinted(mine) + affinity.hinted(sums[left])
                > affinity.hinted(bests) + affinity.hinted(sums[bestLeft]);
    }

    /** The largest remaining NVLink clique, then the sum of all remaining GPUs. */
    private long remainingScore(int left) {
        return ((long) cliques[left] << CLIQUE_SHIFT) + affinity.measured(sums[left]);
    }

    /** The lowest 0, 1, … count bits of a mask. */
    private static int[] lowest(int free, int count) {
        int[] lowest = new int[count + 1];
        int left = free;
        for (int i = 1; i <= count; i++) {
            lowest[i] = lowest[i - 1] | left & -left;
            left &= left - 1;
        }
        return lowest;
    }

    /** The next larger set of as many bits of the mask; 0 after the last one. The carry runs over bits not in the mask. */
    private static int after(int pick, int free, int[] lowest) {
        int raised = ((pick | ~free) + (pick & -pick)) & free;
        return raised == 0 ? 0 : raised | lowest[lowest.length - 1 - Integer.bitCount(raised)];
    }
}
