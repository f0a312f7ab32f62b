package io.gpufleet.nodedaemon.model.preferred;

import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Chooses among devices that share GPUs; mutable, so it serves one call. */
final class SharedGpuSelection {
    private final GpuTopology topology;
    private final int[] taken;
    private final long[] nearness;
    private final BitSet chosenGpus = new BitSet();
    private final List<Deque<String>> free;
    private final Comparator<Integer> order;

    /** Starts with no device available; {@code listed} is the number of devices of each GPU. */
    SharedGpuSelection(GpuTopology topology, ReplicaAllocationPolicy spread, int[] listed) {
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
                byTaken.thenComparing((Integer gpu) -> chosenGpus.get(gpu)).thenComparing(byNearness);
            case PACKED -> byTaken.reversed().thenComparing(byNearness);
        };
    }

    /** Adds a chosen device of the GPU. */
    void addChosen(int gpu) {
        if (!chosenGpus.get(gpu)) {
            chosenGpus.set(gpu);
            IntStream.range(0, nearness.length)
                    .forEach(other -> nearness[other] += topology.affinity().between(gpu, other));
        }
    }

    /** Adds an available device of the GPU. */
    void addAvailable(int gpu, String id) {
        free.get(gpu).add(id);
        taken[gpu]--;
    }

    /** Chooses that many of the available devices, of which there are enough. */
    List<String> choose(int count) {
        var chosen = new ArrayList<String>(count);
        for (int i = 0; i < count; i++) {
            int gpu = IntStream.range(0, taken.length)
                    .filter(position -> !free.get(position).isEmpty())
                    .boxed()
                    .min(order)
                    .orElseThrow();
            chosen.add(free.get(gpu).remove());
            taken[gpu]++;
            addChosen(gpu);
        }
        return chosen;
    }
}
