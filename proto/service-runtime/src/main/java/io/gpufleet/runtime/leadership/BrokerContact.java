package io.gpufleet.runtime.leadership;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When the broker answered last. A thread of its own notices that it is silent: those that ask wait for an answer then,
 * each for a time of its client's.
 */
public final class BrokerContact implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BrokerContact.class);

    private final String kafka;
    private final Duration silence;
    private final LongSupplier nanos;
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile long answeredNanos;
    private volatile boolean silent;

    /**
     * Counts from now on.
     *
     * @param kafka address of the broker, for the log
     * @param session within which a dead broker is reported; a sixth of it is left to those that read the report
     */
    public BrokerContact(String kafka, Duration session, LongSupplier nanos) {
        this.kafka = kafka;
        this.silence = session.multipliedBy(5).dividedBy(6);
        this.nanos = nanos;
        this.answeredNanos = nanos.getAsLong();
    }

    /** Notices silence until it is closed, on a thread with this name. */
    public void watch(String thread) {
        Thread.ofVirtual().name(thread).start(() -> {
            try {
                while (!closing.await(check().toNanos(), TimeUnit.NANOSECONDS)) {
                    LOG.atTrace().log("checked for silence");
                }
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Called when the broker has answered whichever client; thread-safe. */
    public void answered() {
        answeredNanos = nanos.getAsLong();
        if (silent) {
            silent = false;
            LOG.atInfo().addKeyValue("kafka", kafka).log("Kafka answers again");
        }
    }

    /** How long the broker has been silent; empty while it counts as there. */
    public Optional<Duration> silentFor() {
        return silent ? Optional.of(age()) : Optional.empty();
    }

    /** Reports silence once; returns the time after which to check again. */
    Duration check() {
        Duration left = silence.minus(age());
        if (left.isPositive()) {
            return left;
        }
        if (!silent) {
            silent = true;
            LOG.atWarn()
                    .addKeyValue("kafka", kafka)
                    .addKeyValue("seconds", age().toSeconds())
                    .log("Kafka does not answer");
        }
        return silence;
    }

    private Duration age() {
        return Duration.ofNanos(nanos.getAsLong() - answeredNanos);
    }

    @Override
    public void close() {
        closing.countDown();
    }
}
