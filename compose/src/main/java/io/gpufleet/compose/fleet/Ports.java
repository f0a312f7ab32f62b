package io.gpufleet.compose.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

/** Hands out loopback ports: the usual one when it is free, else another, and says so. */
public final class Ports {
    private static final int FIRST_SPARE = 20_000;
    private static final int LAST_SPARE = 30_000;

    private final IntPredicate free;
    private final Consumer<String> says;
    private final Set<Integer> given = new HashSet<>();
    private int spare = FIRST_SPARE;

    /**
     * A fresh book of ports.
     *
     * @param free whether nobody listens on a port
     * @param says told when a usual port is taken
     */
    public Ports(IntPredicate free, Consumer<String> says) {
        this.free = free;
        this.says = says;
    }

    /** A port for a part; the same port is never given twice. */
    public int take(String part, int usual) {
        if (given.add(usual)) {
            if (free.test(usual)) {
                return usual;
            }
            int other = other();
            says.accept("port " + usual + " is taken: " + part + " gets " + other);
            return other;
        }
        return other();
    }

    private int other() {
        for (; spare < LAST_SPARE; spare++) {
            if (!given.contains(spare) && free.test(spare)) {
                given.add(spare);
                return spare++;
            }
        }
        throw new IllegalStateException("no free port between " + FIRST_SPARE + " and " + LAST_SPARE);
    }

    /** Whether a program could listen on the port of the loopback address now. */
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
