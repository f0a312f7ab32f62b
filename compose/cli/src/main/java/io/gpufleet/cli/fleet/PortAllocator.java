package io.gpufleet.cli.fleet;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

/** Allocates loopback ports: the usual one when it is free, else another, with a message. */
public final class PortAllocator {
    private static final int FIRST_SPARE = 20_000;
    private static final int LAST_SPARE = 30_000;

    private final IntPredicate free;
    private final Consumer<String> log;
    private final Set<Integer> allocated = new HashSet<>();
    private int spare = FIRST_SPARE;

    /**
     * No port allocated yet.
     *
     * @param free true for a port that is not in use
     * @param log receives a message for each usual port in use
     */
    public PortAllocator(IntPredicate free, Consumer<String> log) {
        this.free = free;
        this.log = log;
    }

    /** A port for a process; each port is allocated once. */
    public int allocate(String process, int usual) {
        if (allocated.add(usual)) {
            if (free.test(usual)) {
                return usual;
            }
            int other = nextFree();
            log.accept("port " + usual + " is in use: " + process + " uses " + other);
            return other;
        }
        return nextFree();
    }

    private int nextFree() {
        for (; spare < LAST_SPARE; spare++) {
            if (!allocated.contains(spare) && free.test(spare)) {
                allocated.add(spare);
                return spare++;
            }
        }
        throw new IllegalStateException("no free port between " + FIRST_SPARE + " and " + LAST_SPARE);
    }
}
