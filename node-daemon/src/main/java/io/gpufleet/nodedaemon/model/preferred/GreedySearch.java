package io.gpufleet.nodedaemon.model.preferred;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;

/**
 * Grows a set from each of several first GPUs, always by the one that is nearest to those chosen, and takes the best set.
 * Of two as near it takes the one that is less near to what is left, so that groups already broken are used up first.
 */
final class GreedySearch implements SubsetSearch {
    /** Bounds the number of first GPUs: all of them up to 64 GPUs, a few for many more. */
    private static final int STEPS = 200_000;

    private final Affinity affinity;

    GreedySearch(Affinity affinity) {
        this.affinity = affinity;
    }

    @Override
    public BitSet choose(BitSet must, BitSet free, int count) {
        int[] fixed = must.stream().toArray();
        int[] places = free.stream().toArray();
        long[] toAll = nearness(places, places);
        long[] toFixed = nearness(places, fixed);
        int starts = Math.clamp((long) STEPS / ((long) count * places.length), 1, places.length);
        Comparator<Grown> byWorth = Comparator.comparingLong((Grown grown) -> affinity.measured(grown.inside))
                .thenComparingLong(grown -> -affinity.measured(grown.torn))
                .thenComparingLong(grown -> affinity.hinted(grown.inside));
        Grown best = new Grown(places, toAll, toFixed);
        best.grow(0, count);
        for (int start = 1; start < starts; start++) {
            var grown = new Grown(places, toAll, toFixed);
            grown.grow(start, count);
            if (byWorth.compare(grown, best) > 0) {
                best = grown;
            }
        }
        return best.chosen();
    }

    private long[] nearness(int[] places, int[] others) {
        return Arrays.stream(places)
                .mapToLong(place -> Arrays.stream(others)
                        .mapToLong(other -> affinity.between(place, other))
                        .sum())
                .toArray();
    }

    /** A set that grows. */
    private final class Grown {
        private final int[] places;
        /** Of each place, to those that are in. */
        private final long[] toChosen;
        /** Of each place, to those that are not. */
        private final long[] toLeft;

        private final boolean[] in;
        /** Sum over pairs of which one is chosen and the other is chosen or in anyway. */
        private long inside;
        /** Sum over pairs of which one is chosen and the other is left. */
        private long torn;

        Grown(int[] places, long[] toAll, long[] toFixed) {
            this.places = places;
            this.toChosen = toFixed.clone();
            this.toLeft = toAll.clone();
            this.in = new boolean[places.length];
        }

        void grow(int first, int count) {
            add(first);
            for (int i = 1; i < count; i++) {
                add(nearest());
            }
            for (int i = 0; i < places.length; i++) {
                torn += in[i] ? toLeft[i] : 0;
            }
        }

        private void add(int next) {
            in[next] = true;
            inside += toChosen[next];
            for (int i = 0; i < places.length; i++) {
                long pair = affinity.between(places[i], places[next]);
                toChosen[i] += pair;
                toLeft[i] -= pair;
            }
        }

        private int nearest() {
            int best = -1;
            for (int i = 0; i < places.length; i++) {
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
            for (int i = 0; i < places.length; i++) {
                if (in[i]) {
                    chosen.set(places[i]);
                }
            }
            return chosen;
        }
    }
}
