package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class EngineContextTest {
    private final EngineParts<?> parts = CountingProjection.partsWithoutBroker();
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
