package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topics;
import java.time.Clock;

/** Where an engine runs: its settings, the topics and their codec, the broker, and the clock. */
public record EngineConfig(ProjectionSettings settings, Codec codec, KafkaClients kafka, Clock clock) {
    /** Group and transactional id; a prefix of one's own keeps two fleets on one Kafka apart. */
    String group() {
        String prefix = codec.topics().prefix();
        return "gpufleet-" + (prefix.equals(Topics.DEFAULT_PREFIX) ? "" : prefix) + settings.service();
    }
}
