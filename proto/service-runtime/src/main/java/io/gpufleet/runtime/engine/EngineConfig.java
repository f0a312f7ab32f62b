package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.leadership.BrokerClock;
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
 * @param brokerClock learns the broker's time from the engine's commits; its {@link BrokerClock#corrected()} is for an actor
 * @param sent topics that the service writes to beside its projection: a missing one, or right to one, is a reason not to be ready
 */
public record EngineConfig(
        ProjectionSettings settings, Codec codec, KafkaClients kafka, BrokerClock brokerClock, Set<Topic> sent) {
    /** Keeps a copy. */
    public EngineConfig {
        sent = Set.copyOf(sent);
    }

    /** With a clock that has learnt nothing of the broker's yet. */
    public EngineConfig(ProjectionSettings settings, Codec codec, KafkaClients kafka, Clock clock, Set<Topic> sent) {
        this(settings, codec, kafka, new BrokerClock(clock, System::nanoTime), sent);
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
