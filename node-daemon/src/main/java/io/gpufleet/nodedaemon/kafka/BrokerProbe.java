package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.wire.KafkaClients;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Waits until a broker listens, without a Kafka client: while no broker answers, each client takes a third of a percent of a
 * core and a thread.
 */
final class BrokerProbe {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(250);
    /** While no broker listens for long: a look takes half a millisecond of the processor. */
    private static final Duration MAX_PAUSE = Duration.ofSeconds(2);

    private static final int CONNECT_TIMEOUT_MILLIS = 1_000;

    private BrokerProbe() {}

    /**
     * Blocks until one of the bootstrap servers accepts a connection, or until the latch is down; returns whether one does.
     * Names of which none can be resolved are left to the client, which reports them.
     */
    static boolean awaitListening(String bootstrap, CountDownLatch ended) throws InterruptedException {
        boolean worthAClient = isWorthAClient(bootstrap);
        Duration pause = FIRST_PAUSE;
        while (!worthAClient && !ended.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
            worthAClient = isWorthAClient(bootstrap);
            pause = pause.multipliedBy(2).compareTo(MAX_PAUSE) < 0 ? pause.multipliedBy(2) : MAX_PAUSE;
        }
        return worthAClient;
    }

    private static boolean isWorthAClient(String bootstrap) {
        boolean resolved = false;
        for (InetSocketAddress server : KafkaClients.servers(bootstrap)) {
            try {
                for (InetAddress address : InetAddress.getAllByName(server.getHostString())) {
                    resolved = true;
                    if (accepts(new InetSocketAddress(address, server.getPort()))) {
                        return true;
                    }
                }
            } catch (UnknownHostException unresolved) {
                // Another name may be resolved.
            }
        }
        return !resolved;
    }

    private static boolean accepts(InetSocketAddress address) {
        try (var socket = new Socket()) {
            socket.connect(address, CONNECT_TIMEOUT_MILLIS);
            return true;
        } catch (IOException refused) {
            return false;
        }
    }
}
