package io.gpufleet.nodedaemon.kafka.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PeriodicOutboxSyncTest {
    private final Semaphore flushes = new Semaphore(0);
    private volatile Throwable failure = new IOException("Input/output error");
    private volatile boolean failing;

    private final PeriodicOutboxSync sync = new PeriodicOutboxSync(this::flush, Duration.ofMillis(1));

    private void flush() throws IOException {
        flushes.release();
        if (failing) {
            switch (failure) {
                case IOException disk -> throw disk;
                case RuntimeException defect -> throw defect;
                default -> throw (Error) failure;
            }
        }
    }

    private void awaitFlushes(int number) throws InterruptedException {
        assertThat(flushes.tryAcquire(number, 10, TimeUnit.SECONDS)).isTrue();
    }

    private void failWith(Throwable cause) {
        failure = cause;
        failing = true;
    }

    @Test
    void eachRequestIsFollowedByAFlush() throws Exception {
        for (int i = 0; i < 3; i++) {
            sync.request();
            awaitFlushes(1);
        }
    }

    @Test
    void failedFlushIsRepeated() throws Exception {
        failWith(new IOException("Input/output error"));

        sync.request();

        awaitFlushes(3);
    }

    @Test
    void flushThatFailsUnexpectedlyIsRepeated() throws Exception {
        failWith(new IllegalStateException("defect"));

        sync.request();

        awaitFlushes(3);
    }

    @Test
    void flushThatFailsWithAnErrorIsRepeated() throws Exception {
        failWith(new NoClassDefFoundError("defect"));

        sync.request();

        awaitFlushes(3);
    }
}
