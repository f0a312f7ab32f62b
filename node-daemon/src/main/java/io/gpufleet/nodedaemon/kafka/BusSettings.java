package io.gpufleet.nodedaemon.kafka;

import java.nio.file.Path;

/**
 * What this room is configured with.
 *
 * @param bootstrap Kafka's bootstrap servers
 * @param cluster name of the cluster, part of every event's source
 * @param topicPrefix of the fleet's topics
 * @param node node name: key of every event
 * @param bootId of this boot
 * @param stateDirectory where outbox, epoch and overlay are kept
 * @param outboxBytes how much may wait for the broker
 */
public record BusSettings(
        String bootstrap,
        String cluster,
        String topicPrefix,
        String node,
        String bootId,
        Path stateDirectory,
        long outboxBytes) {}
