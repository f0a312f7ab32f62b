package io.gpufleet.nodedaemon.kafka;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings the outbox to the disk once a second, beside the sending: a power cut costs that second at most. */
final class OutboxSync implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OutboxSync.class);

    private final Outbox outbox;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread;

    OutboxSync(Outbox outbox) {
        this.outbox = outbox;
        this.thread = Thread.ofPlatform().name("outbox-sync").daemon(true).start(this::run);
    }

    private void run() {
        boolean said = false;
        try {
            while (!stopped.await(1, TimeUnit.SECONDS)) {
                try {
                    outbox.force();
                    said = false;
                } catch (IOException failed) {
                    if (!said) {
                        LOG.atWarn()
                                .addKeyValue("error", failed.toString())
                                .log("the outbox can not be brought to the disk");
                        said = true;
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
