package io.gpufleet.nodedaemon.model.preferred;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;

/**
 * Grows a set from each of several start GPUs, always by the GPU with the highest affinity to the chosen ones, and returns the
 * best set. Ties go to the GPU with the lower affinity to the remaining ones, so that incomplete groups are used up first.
 */
final class GreedySubsetSearch implements GpuSubsetSearch {
    /** Bounds the number of start GPUs: all of them up to 64 GPUs, fewer beyond. */
    private static final int STEPS = 200_000;

    private final GpuPairScores affinity;

    GreedySubsetSearch(GpuPairScores affinity) {
        this.affinity = affinity;
    }

    @Override
    public BitSet choose(BitSet must, BitSet free, int count) {
        int[] fixed = must.stream().toArray();
        int[] positions = free.stream().toArray();
        long[] toAll = nearness(positions, positions);
        long[] toFixed = nearness(positions, fixed);
        int starts = Math.clamp((long) STEPS / ((long) count * positions.length), 1, positions.length);
        Comparator<Candidate> byWorth = Comparator.comparingLong(
                        (Candidate grown) -> affinity.measured(grown.innerAffinity))
                .thenComparingLong(grown -> -affinity.measured(grown.cutAffinity))
                .thenComparingLong(grown -> affinity.hinted(grown.innerAffinity));
        Candidate best = new Candidate(positions, toAll, toFixed);
        best.grow(0, count);
        for (int start = 1; start < starts; start++) {
            var grown = new Candidate(positions, toAll, toFixed);
            grown.grow(start, count);
            if (byWorth.compare(grown, best) > 0) {
                best = grown;
            }
        }
        return best.chosen();
    }

    private long[] nearness(int[] positions, int[] others) {
        return Arrays.stream(positions)
                .mapToLong(position -> Arrays.stream(others)
                        .mapToLong(other -> affinity.between(position, other))
                        .sum())
                .toArray();
    }

    /** A growing set. */
    private final class Candidate {
        private final int[] positions;
        /** Affinity of each position to the chosen ones. */
        private final long[] toChosen;
        /** Affinity of each position to the remaining ones. */
        private final long[] toLeft;

        private final boolean[] in;
        /** Sum over pairs of a chosen GPU and one that is chosen or required. */
        private long innerAffinity;
        /** Sum over pairs of a chosen and a remaining GPU. */
        private long cutAffinity;

        Candidate(int[] positions, long[] toAll, long[] toFixed) {
            this.positions = positions;
            this.toChosen = toFixed.clone();
            this.toLeft = toAll.clone();
            this.in = new boolean[positions.length];
        }

        void grow(int first, int count) {
            add(first);
            for (int i = 1; i < count; i++) {
                add(nearest());
            }
            for (int i = 0; i < positions.length; i++) {
                cutAffinity += in[i] ? toLeft[i] : 0;
            }
        }

        private void add(int next) {
            in[next] = true;
            innerAffinity += toChosen[next];
            for (int i = 0; i < positions.length; i++) {
                long pair = affinity.between(positions[i], positions[next]);
                toChosen[i] += pair;
                toLeft[i] -= pair;
            }
        }

        private int nearest() {
            int best = -1;
            for (int i = 0; i < positions.length; i++) {
                if (!in[i] && (best < 0 || nearer(i, best))) {
                    best = i;
                }
            }
            return best;
        }

        private boolean nearer(int one, int other) {
            long diff = affinity.measured(toChosen[one]) - affinity.measured(toChosen[other]);
            if (diff == 0) {
                diff = affinity.measured(toLeft[other]) - affinity.measured(toLeft[one]);
            }
            return diff != 0 ? diff > 0 : affinity.hinted(toChosen[one]) > affinity.hinted(toChosen[other]);
        }

        BitSet chosen() {
            var chosen = new BitSet();
            for (int i = 0; i < positions.length; i++) {
                if (in[i]) {
                    chosen.set(positions[i]);
                }
            }
            return chosen;
        }
    }
}
