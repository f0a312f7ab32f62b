package io.gpufleet.nodedaemon.model.preferred;

import io.gpufleet.nodedaemon.model.settings.ReplicaOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** One choice among devices of which several are one GPU; counts as it goes, so it serves one call. */
final class Shares {
    private final Topology topology;
    private final int[] taken;
    private final long[] nearness;
    private final BitSet joined = new BitSet();
    private final List<Deque<String>> free;
    private final Comparator<Integer> order;

    /** A choice where nothing is free yet; {@code listed} is the number of devices of each GPU. */
    Shares(Topology topology, ReplicaOrder spread, int[] listed) {
        this.topology = topology;
        this.taken = listed.clone();
        this.nearness = new long[listed.length];
        this.free = Stream.<Deque<String>>generate(ArrayDeque::new)
                .limit(listed.length)
                .toList();
        Comparator<Integer> byTaken = Comparator.comparingInt((Integer gpu) -> taken[gpu]);
        Comparator<Integer> byNearness = Comparator.comparingLong((Integer gpu) -> -nearness[gpu]);
        this.order = switch (spread) {
            case DISTRIBUTED ->
                byTaken.thenComparing((Integer gpu) -> joined.get(gpu)).thenComparing(byNearness);
            case PACKED -> byTaken.reversed().thenComparing(byNearness);
        };
    }

    /** A device of the GPU is among those chosen. */
    void join(int gpu) {
        if (!joined.get(gpu)) {
            joined.set(gpu);
            IntStream.range(0, nearness.length)
                    .forEach(other -> nearness[other] += topology.affinity().between(gpu, other));
        }
    }

    /** A device of the GPU may be chosen. */
    void offer(int gpu, String id) {
        free.get(gpu).add(id);
        taken[gpu]--;
    }

    /** Chooses so many of those offered, at least as many are there. */
    List<String> take(int count) {
        var chosen = new ArrayList<String>(count);
        for (int i = 0; i < count; i++) {
            int gpu = IntStream.range(0, taken.length)
                    .filter(place -> !free.get(place).isEmpty())
                    .boxed()
                    .min(order)
                    .orElseThrow();
            chosen.add(free.get(gpu).remove());
            taken[gpu]++;
            join(gpu);
        }
        return chosen;
    }
}
