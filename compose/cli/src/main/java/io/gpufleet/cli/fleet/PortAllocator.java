package io.gpufleet.cli.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
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

    /** True when a program can listen on the loopback port now. */
    public static boolean isFree(int port) {
        try (var socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (java.net.BindException taken) {
            return false;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
