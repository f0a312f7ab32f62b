package io.gpufleet.health.kafka;

import io.gpufleet.health.config.HealthConfig;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.TopicsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Names of the topics, verified against the broker at start. */
public final class VerifiedTopics {
    private static final Logger LOG = LoggerFactory.getLogger(VerifiedTopics.class);

    private VerifiedTopics() {}

    /**
     * Topics with the configured prefix.
     *
     * @throws ConfigurationException when a topic is missing or has another number of partitions; an unavailable broker
     *     is only logged
     */
    public static Topics of(HealthConfig.Kafka config) {
        Topics topics = named(config.topicPrefix());
        try {
            TopicAdmin.check(config.bootstrap(), topics)
                    .forEach(line ->
                            LOG.atWarn().addKeyValue("difference", line).log("topic differs from the catalogue"));
        } catch (TopicsException unusable) {
            String reason = String.valueOf(unusable.getMessage());
            if (!unusable.isBrokerUnavailable()) {
                throw new ConfigurationException(reason);
            }
            LOG.atWarn().addKeyValue("reason", reason).log("topics not verified, waiting for the broker");
        }
        return topics;
    }

    private static Topics named(String prefix) {
        try {
            return new Topics(prefix);
        } catch (IllegalArgumentException unusable) {
            throw new ConfigurationException("GPUFLEET_TOPIC_PREFIX: " + unusable.getMessage());
        }
    }
}
