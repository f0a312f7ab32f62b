package io.gpufleet.runtime.bus;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.TopicsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Compares the topics with the catalogue at the start; a broker that is away is waited for later. */
public final class TopicCheck {
    private static final Logger LOG = LoggerFactory.getLogger(TopicCheck.class);

    private TopicCheck() {}

    /** Stops the start when a topic is missing or has another number of partitions. */
    public static void run(BusConfig bus) {
        try {
            TopicAdmin.check(bus.kafka(), bus.topics())
                    .forEach(line ->
                            LOG.atWarn().addKeyValue("difference", line).log("topic differs from the catalogue"));
        } catch (TopicsException unusable) {
            String line = String.valueOf(unusable.getMessage());
            if (!unusable.isBrokerUnavailable()) {
                throw new ConfigurationException(line);
            }
            LOG.atWarn().addKeyValue("reason", line).log("topics not checked, waiting for the broker");
        }
    }
}
