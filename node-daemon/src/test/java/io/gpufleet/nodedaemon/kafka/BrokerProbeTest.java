package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.kafka.FreePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class BrokerProbeTest {
    private final CountDownLatch ended = new CountDownLatch(1);

    private CompletableFuture<Boolean> probe(String bootstrap) {
        var found = new CompletableFuture<Boolean>();
        Thread.ofVirtual().start(() -> {
            try {
                found.complete(BrokerProbe.awaitListening(bootstrap, ended));
            } catch (InterruptedException stop) {
                found.completeExceptionally(stop);
            }
        });
        return found;
    }

    private static ServerSocket listen(int port) throws IOException {
        return new ServerSocket(port, 0, InetAddress.getLoopbackAddress());
    }

    @Test
    void anyServerThatListensIsEnough() throws Exception {
        try (ServerSocket broker = listen(0)) {
            assertThat(probe("127.0.0.1:1, no-such-host.invalid:9092,127.0.0.1:" + broker.getLocalPort())
                            .join())
                    .isTrue();
        }
    }

    @Test
    void serverThatStartsLaterIsFound() throws Exception {
        int port = FreePort.next();
        CompletableFuture<Boolean> found = probe("127.0.0.1:" + port);
        assertThat(found).isNotDone();

        try (ServerSocket _ = listen(port)) {
            assertThat(found.join()).isTrue();
        }
    }

    @Test
    void endOfTheDaemonEndsTheWait() {
        CompletableFuture<Boolean> found = probe("127.0.0.1:1");

        ended.countDown();

        await().until(found::isDone);
        assertThat(found.join()).isFalse();
    }

    @Test
    void namesThatCannotBeResolvedAreLeftToTheClient() {
        assertThat(probe("no-such-host.invalid:9092").join()).isTrue();
    }
}
