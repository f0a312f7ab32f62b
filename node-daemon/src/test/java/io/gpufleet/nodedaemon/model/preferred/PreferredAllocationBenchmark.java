package io.gpufleet.nodedaemon.model.preferred;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Measures the selection alone, without gRPC: run main with the test class path. */
public final class PreferredAllocationBenchmark {
    private static final int WARM_UP = 20_000;
    private static final int CALLS = 100_000;

    private PreferredAllocationBenchmark() {}

    /** Prints one line per topology. */
    public static void main(String[] args) {
        print("dgx-a100 4 of 8", TestTopologies.DGX_A100, 4);
        print("dgx-1 4 of 8", TestTopologies.DGX_1, 4);
        print("pcie 4 of 8", TestTopologies.PCIE, 4);
        print("dgx-2 8 of 16", TestTopologies.DGX_2, 8);
        print("two boards 8 of 16", TestTopologies.TWO_BOARDS, 8);
        print("four boards 16 of 32 (greedy)", TestTopologies.boards(4), 16);
    }

    private static void print(String name, List<Gpu> gpus, int size) {
        var list = TestTopologies.whole(gpus);
        var ids = TestTopologies.range(0, gpus.size());
        long begun = System.nanoTime();
        var allocation = PreferredAllocation.of(list, ReplicaAllocationPolicy.DISTRIBUTED);
        long built = System.nanoTime() - begun;
        long[] nanos = new long[CALLS];
        long seen = 0;
        for (int i = -WARM_UP; i < CALLS; i++) {
            long start = System.nanoTime();
            seen += allocation.choose(ids, List.of(), size).size();
            nanos[Math.max(0, i)] = System.nanoTime() - start;
        }
        Arrays.sort(nanos);
        System.out.printf(
                Locale.ROOT,
                "%-30s p50 %6.1f us  p99 %6.1f us  p99.9 %7.1f us  max %8.1f us  built in %.0f us (%d)%n",
                name,
                nanos[CALLS / 2] / 1e3,
                nanos[CALLS * 99 / 100] / 1e3,
                nanos[CALLS / 1000 * 999] / 1e3,
                nanos[CALLS - 1] / 1e3,
                built / 1e3,
                seen);
    }
}
