package io.gpufleet.nodedaemon.kafka.outbox;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Flushes the outbox to the disk once a second on a thread of its own: a power cut loses one second at most. */
public final class PeriodicOutboxSync implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PeriodicOutboxSync.class);

    private final Outbox outbox;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread;

    public PeriodicOutboxSync(Outbox outbox) {
        this.outbox = outbox;
        this.thread = Thread.ofPlatform().name("outbox-flush").daemon(true).start(this::run);
    }

    private void run() {
        boolean logged = false;
        try {
            while (!stopped.await(1, TimeUnit.SECONDS)) {
                try {
                    outbox.force();
                    logged = false;
                } catch (IOException failed) {
                    if (!logged) {
                        LOG.atWarn().addKeyValue("error", failed.toString()).log("outbox cannot be flushed");
                        logged = true;
                    }
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stopped.countDown();
        thread.interrupt();
    }
}
