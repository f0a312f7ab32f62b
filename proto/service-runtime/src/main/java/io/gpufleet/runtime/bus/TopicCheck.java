package io.gpufleet.runtime.bus;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.TopicsException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Compares the topics with the catalogue at the start; a broker that is away is waited for later. */
public final class TopicCheck {
    private static final Logger LOG = LoggerFactory.getLogger(TopicCheck.class);
    private static final Duration INTERVAL = Duration.ofSeconds(2);

    private TopicCheck() {}

    /**
     * Stops the start when a topic has another number of partitions, or is missing and is not created within the
     * configured wait.
     */
    public static void run(BusConfig bus) {
        long deadline = System.nanoTime() + bus.topicsWait().toNanos();
        boolean told = false;
        while (true) {
            try {
                TopicAdmin.check(bus.kafka(), bus.topics())
                        .forEach(line ->
                                LOG.atWarn().addKeyValue("difference", line).log("topic differs from the catalogue"));
                return;
            } catch (TopicsException unusable) {
                String line = String.valueOf(unusable.getMessage());
                if (unusable.isBrokerUnavailable()) {
                    LOG.atWarn().addKeyValue("reason", line).log("topics not checked, waiting for the broker");
                    return;
                }
                if (!unusable.isMissing() || System.nanoTime() - deadline >= 0 || !pause()) {
                    throw new ConfigurationException(line);
                }
                if (!told) {
                    LOG.atWarn().addKeyValue("reason", line).log("waiting for the topics");
                }
                told = true;
            }
        }
    }

    /** False when the thread is interrupted meanwhile. */
    private static boolean pause() {
        try {
            return !new CountDownLatch(1).await(INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
