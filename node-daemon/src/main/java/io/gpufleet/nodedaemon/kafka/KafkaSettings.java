package io.gpufleet.nodedaemon.kafka;

import java.nio.file.Path;

/**
 * Configuration of this package.
 *
 * @param bootstrap Kafka's bootstrap servers
 * @param cluster name of the cluster, part of every event's source
 * @param topicPrefix prefix of the names of topics
 * @param node name of the Node: key of every event
 * @param bootId boot id of the node
 * @param stateDirectory directory of outbox, epoch and verdict
 * @param outboxBytes maximum size of the outbox
 */
public record KafkaSettings(
        String bootstrap,
        String cluster,
        String topicPrefix,
        String node,
        String bootId,
        Path stateDirectory,
        long outboxBytes) {}
