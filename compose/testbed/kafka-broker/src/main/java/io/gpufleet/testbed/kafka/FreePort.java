package io.gpufleet.testbed.kafka;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Free ports on loopback for processes that bind them later. They are below 32768, where Linux begins to take the source
 * ports of outgoing connections: such a port may be taken between its choice and the bind, or while its process restarts.
 */
public final class FreePort {
    private static final int FIRST = 21_000;
    private static final int LAST = 31_999;
    private static final int ATTEMPTS = 1_000;

    private FreePort() {}

    /** A port on which nothing listens now; by chance, since several JVMs choose at the same time. */
    public static int next() {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST + 1);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no free port on loopback between " + FIRST + " and " + LAST);
    }

    private static boolean isFree(int port) {
        try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return true;
        } catch (IOException taken) {
            return false;
        }
    }
}
