package io.gpufleet.bench.allocation;

import java.util.Random;

/**
 * Pods that run on the GPUs of a fleet one after the other, a minute each by the clock of their node, and the seconds that
 * each of them truly held its GPU. Of a third of the rounds the API server tells no end, so that a snapshot does; of another
 * third the kubelet's Allocate tells the start.
 */
final class PodRuns {
    static final int GPUS = 8;

    static final int ROUND_SECONDS = 60;
    private static final int MAX_IDLE_SECONDS = 40;
    private static final int ALLOCATE_AHEAD = 3;

    private final int nodes;
    private final int rounds;
    /** Seconds before the end of its round at which a pod ended; 0 where only a snapshot tells. */
    private final byte[] endedAhead;

    PodRuns(int nodes, int rounds, Random random) {
        this.nodes = nodes;
        this.rounds = rounds;
        this.endedAhead = new byte[nodes * rounds * GPUS];
        for (int run = 0; run < endedAhead.length; run++) {
            boolean told = Math.floorMod(nodeOf(run) + roundOf(run), 3) != 0;
            endedAhead[run] = told ? (byte) (ALLOCATE_AHEAD + 2 + random.nextInt(MAX_IDLE_SECONDS)) : 0;
        }
    }

    int nodes() {
        return nodes;
    }

    int rounds() {
        return rounds;
    }

    int count() {
        return endedAhead.length;
    }

    /** Number of the pod on a GPU of a node in a round. */
    int run(int node, int round, int gpu) {
        return (round * nodes + node) * GPUS + gpu;
    }

    int nodeOf(int run) {
        return run / GPUS % nodes;
    }

    int roundOf(int run) {
        return run / GPUS / nodes;
    }

    static int gpuOf(int run) {
        return run % GPUS;
    }

    /** True where the API server tells when the pod ended. */
    boolean isEndTold(int run) {
        return endedAhead[run] > 0;
    }

    /** When the pod ended, in seconds since the first round. */
    int end(int run) {
        return (roundOf(run) + 1) * ROUND_SECONDS - endedAhead[run];
    }

    /** True where the kubelet called Allocate for the pods of a node in a round: its GPUs were free before. */
    boolean isAllocateTold(int node, int round) {
        return round > 0 && Math.floorMod(node + round, 3) == 2;
    }

    /** When the pods of a node in a round began, in seconds since the first round. */
    int begin(int node, int round) {
        return round * ROUND_SECONDS - (isAllocateTold(node, round) ? ALLOCATE_AHEAD : 0);
    }

    /** Seconds for which the pod held its GPU. */
    long seconds(int run) {
        return end(run) - begin(nodeOf(run), roundOf(run));
    }
}
