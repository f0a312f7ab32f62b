package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import java.time.Clock;

/** Where an engine runs: its settings, the topics and their codec, the broker, and the clock. */
public record EngineConfig(ProjectionSettings settings, Codec codec, KafkaClients kafka, Clock clock) {}
