package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.KafkaClients;
import java.nio.file.Path;

/**
 * Configuration of this package.
 *
 * @param clients how the broker is reached
 * @param cluster name of the cluster, part of every event's source
 * @param topicPrefix prefix of the names of topics
 * @param node name of the Node: key of every event
 * @param bootId boot id of the node
 * @param stateDirectory directory of outbox, epoch and verdict
 * @param outboxBytes maximum size of the outbox
 */
public record KafkaSettings(
        KafkaClients clients,
        String cluster,
        String topicPrefix,
        String node,
        String bootId,
        Path stateDirectory,
        long outboxBytes) {
    /**
     * Clients of the broker.
     *
     * @param bootstrap value of GPUFLEET_KAFKA
     * @param file value of GPUFLEET_KAFKA_CONFIG, or empty
     * @throws ConfigurationException with one line that names the setting that is wrong
     */
    public static KafkaClients clients(String bootstrap, String file) {
        try {
            return KafkaClients.of(bootstrap, file);
        } catch (IllegalArgumentException unusable) {
            String line = String.valueOf(unusable.getMessage());
            boolean ofFile = !file.isEmpty() && line.startsWith(file);
            throw new ConfigurationException((ofFile ? "GPUFLEET_KAFKA_CONFIG: " : "GPUFLEET_KAFKA: ") + line);
        }
    }
}
