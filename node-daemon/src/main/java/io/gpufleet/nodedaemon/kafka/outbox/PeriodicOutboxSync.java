package io.gpufleet.nodedaemon.kafka.outbox;

import io.gpufleet.kit.lifecycle.OnDemandThread;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Flushes the outbox to the disk a second after it was appended to, on a thread of its own that ends where nothing is
 * appended: a power cut loses one second at most.
 */
public final class PeriodicOutboxSync implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PeriodicOutboxSync.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);

    /** Writes what was appended to the disk. */
    interface Flush {
        /** Throws IOException where the disk fails. */
        void run() throws IOException;
    }

    private final Flush flush;
    private final Duration period;
    private final Executor thread = OnDemandThread.executor("outbox-flush");
    private final AtomicBoolean requested = new AtomicBoolean();
    private final CountDownLatch stopped = new CountDownLatch(1);
    /** Accessed only by the thread. */
    private boolean logged;

    /** Flushes this outbox. */
    public PeriodicOutboxSync(Outbox outbox) {
        this(outbox::force, PERIOD);
    }

    PeriodicOutboxSync(Flush flush, Duration period) {
        this.flush = flush;
        this.period = period;
    }

    /** Flushes within a second, what is appended until then included; thread-safe and does not block. */
    public void request() {
        if (requested.getAndSet(true)) {
            return;
        }
        try {
            thread.execute(this::flushLater);
        } catch (RuntimeException | Error refused) {
            // Without a thread, as at the limit of a container, the next request tries again.
            requested.set(false);
            throw refused;
        }
    }

    private void flushLater() {
        try {
            if (stopped.await(period.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return;
        }
        // Before the flush: what is appended during it may need another one.
        requested.set(false);
        try {
            flush.run();
            logged = false;
        } catch (IOException | RuntimeException | Error failed) {
            if (!logged) {
                LOG.atWarn().addKeyValue("error", failed.toString()).log("outbox cannot be flushed, trying again");
                logged = true;
            }
            request();
        }
    }

    @Override
    public void close() {
        stopped.countDown();
    }
}
