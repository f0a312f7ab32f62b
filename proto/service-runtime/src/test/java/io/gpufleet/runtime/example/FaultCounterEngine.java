package io.gpufleet.runtime.example;

import io.gpufleet.runtime.engine.EngineConfig;
import io.gpufleet.runtime.engine.ProjectionEngine;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topics;
import java.time.Clock;

/** Starts the projection of the README. */
final class FaultCounterEngine {
    private FaultCounterEngine() {}

    /** A replica; the caller closes it. */
    static ProjectionEngine<FaultCounter.Count> start(String bootstrap, String instance) {
        EngineConfig config = new EngineConfig(
                new ProjectionSettings("health-service", instance, "", ProjectionSettings.SESSION),
                new Codec("local", new Topics("demo.")),
                KafkaClients.plain(bootstrap),
                Clock.systemUTC());
        return ProjectionEngine.start(
                config, new FaultCounter(), Actor.none(), StateListener.none(), System.err::println);
    }
}
