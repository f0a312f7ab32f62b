package io.gpufleet.cli.drill;

import io.gpufleet.cli.fleet.FleetPartControl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A broker that is away. Its port is held meanwhile, and each connection to it reset at once: otherwise another fleet on
 * this machine could take the port, and the services would use the Kafka of that fleet.
 */
final class AbsentBroker implements Ongoing {
    private final FleetPartControl parts;
    private final String part;
    private final ServerSocket port;

    private AbsentBroker(FleetPartControl parts, String part, ServerSocket port) {
        this.parts = parts;
        this.part = part;
        this.port = port;
    }

    static AbsentBroker begin(FleetPartControl parts, String part) {
        int number = parts.state().process(part).orElseThrow().ports().getOrDefault("kafka", 0);
        parts.stop(part);
        return new AbsentBroker(parts, part, hold(number));
    }

    /** Holds a port of the loopback address until it is closed. */
    static ServerSocket hold(int number) {
        try {
            var port = new ServerSocket();
            port.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), number));
            Thread.ofVirtual().name("held-port").start(() -> reset(port));
            return port;
        } catch (IOException taken) {
            throw new UncheckedIOException("port " + number + " of the broker cannot be held", taken);
        }
    }

    private static void reset(ServerSocket port) {
        while (!port.isClosed()) {
            try (Socket connection = port.accept()) {
                connection.setSoLinger(true, 0);
            } catch (IOException closed) {
                // The port is given back, or the client has gone by itself.
            }
        }
    }

    @Override
    public void end() {
        try {
            port.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        parts.start(part);
    }
}
