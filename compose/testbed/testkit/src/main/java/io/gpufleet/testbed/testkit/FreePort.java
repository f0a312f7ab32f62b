package io.gpufleet.testbed.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Free ports on loopback. */
public final class FreePort {
    private FreePort() {}

    /** A port on which nothing listens now. */
    public static int next() {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException none) {
            throw new UncheckedIOException("no free port on loopback", none);
        }
    }
}
