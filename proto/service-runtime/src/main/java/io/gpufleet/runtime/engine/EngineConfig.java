package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import java.util.Set;

/**
 * Where an engine runs: its settings, the topics and their codec, the broker, and the clock.
 *
 * @param sent topics that the service writes to beside its projection: a missing right to one is a reason not to be ready
 */
public record EngineConfig(ProjectionSettings settings, Codec codec, KafkaClients kafka, Clock clock, Set<Topic> sent) {
    /** Keeps a copy. */
    public EngineConfig {
        sent = Set.copyOf(sent);
    }

    /** Group and transactional id; a prefix of one's own keeps two fleets on one Kafka apart. */
    String group() {
        String prefix = codec.topics().prefix();
        return "gpufleet-" + (prefix.equals(Topics.DEFAULT_PREFIX) ? "" : prefix) + settings.service();
    }
}
