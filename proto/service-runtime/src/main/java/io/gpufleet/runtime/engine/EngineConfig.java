package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topics;
import java.time.Clock;

/**
 * Where an engine runs: its settings, the topics and their codec, the broker, and the clock.
 *
 * @param brokerClock learns the broker's time from the engine's commits; its {@link BrokerClock#corrected()} is for an actor
 * @param further topics that the service uses beside its projection
 */
public record EngineConfig(
        ProjectionSettings settings, Codec codec, KafkaClients kafka, BrokerClock brokerClock, FurtherTopics further) {
    /** A service of its projection alone, with a clock that has learnt nothing of the broker's yet. */
    public EngineConfig(ProjectionSettings settings, Codec codec, KafkaClients kafka, Clock clock) {
        this(settings, codec, kafka, new BrokerClock(clock, System::nanoTime), FurtherTopics.NONE);
    }

    /** The process's own clock. */
    public Clock clock() {
        return brokerClock.own();
    }

    /** Group and transactional id; a prefix of one's own keeps two fleets on one Kafka apart. */
    String group() {
        String prefix = codec.topics().prefix();
        return "gpufleet-" + (prefix.equals(Topics.DEFAULT_PREFIX) ? "" : prefix) + settings.service();
    }
}
