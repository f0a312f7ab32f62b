package io.gpufleet.runtime.engine;

import static org.awaitility.Awaitility.await;

import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.wire.KafkaClients;
import java.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class BrokerProbeIT {
    private final TestBus bus = TestBus.withNewPrefix();

    @Test
    void askedProbeDoesNotWaitForItsNextTime() {
        var projection = new CountingProjection();
        var config = new EngineConfig(
                bus.settings("health-service-0"),
                bus.codec,
                KafkaClients.plain(bus.broker.bootstrap()),
                Clock.systemUTC());
        var parts = new EngineParts<>(config, projection, projection, StateListener.none());
        try (var probe = BrokerProbe.start(parts, Duration.ofHours(1))) {
            // Given
            await().until(() -> !probe.ends().offsets().isEmpty());
            long first = probe.ends().atNanos();

            // When
            probe.ask();

            // Then
            await().until(() -> probe.ends().atNanos() > first);
        }
    }
}
