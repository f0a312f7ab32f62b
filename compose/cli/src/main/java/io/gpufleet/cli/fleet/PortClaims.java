package io.gpufleet.cli.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/**
 * Claims of TCP ports between the plan of a fleet and the time when its processes listen, so that two fleets that start at
 * the same time do not plan the same port.
 *
 * <p>A claim is the UDP socket of the same number, which no program of a fleet uses: the operating system gives it once, and
 * takes it back however the process ends.
 */
public final class PortClaims implements AutoCloseable {
    private final List<DatagramSocket> claims = new ArrayList<>();

    /** Claims a loopback port; false when a program listens on it or another start has claimed it. */
    public boolean claim(int port) {
        if (!isFree(port)) {
            return false;
        }
        try {
            claims.add(new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
            return true;
        } catch (IOException taken) {
            return false;
        }
    }

    /** Gives all claims back. */
    @Override
    public void close() {
        claims.forEach(DatagramSocket::close);
        claims.clear();
    }

    private static boolean isFree(int port) {
        try (var socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (BindException taken) {
            return false;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
