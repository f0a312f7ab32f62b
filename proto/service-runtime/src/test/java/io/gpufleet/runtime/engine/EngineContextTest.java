package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class EngineContextTest {
    private final CountingProjection projection = new CountingProjection();
    private final EngineParts<?> parts = new EngineParts<>(
            new EngineConfig(
                    new ProjectionSettings("counting", "health-service-0", "", ProjectionSettings.SESSION),
                    new Codec("c1", new Topics("gpu.")),
                    KafkaClients.plain("127.0.0.1:1"),
                    Clock.systemUTC()),
            projection,
            projection,
            StateListener.none());
    private final EngineContext context = new EngineContext(parts, new BrokerProbe(parts));

    @Test
    void anotherKafkaAtTheSameAddressIsNoticedOnce() {
        assertThat(context.joined("kafka-a")).isEmpty();
        assertThat(context.joined("kafka-a")).isEmpty();
        assertThat(context.joined("kafka-b")).contains("kafka-a");
        assertThat(context.joined("kafka-b")).isEmpty();
    }

    @Test
    void restoreAndLagAreUnknownUntilTheyAreMeasured() {
        assertThat(ProjectionCounters.of(context, false).get("lag")).isEqualTo(ProjectionCounters.UNKNOWN);
        assertThat(ProjectionCounters.of(context, false).get("restore_milliseconds"))
                .isEqualTo(ProjectionCounters.UNKNOWN);
    }
}
