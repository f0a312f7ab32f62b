package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** The samples of a projection, before its first input. */
@NullMarked
class FoldWarmUpTest {
    private final Set<String> changed = ConcurrentHashMap.newKeySet();

    static final class SampledProjection extends CountingProjection {
        @Override
        public List<Inbound.Event> samples(Instant now) {
            var envelope = new Envelope(
                    new EventId("sample", 1, Topic.HEALTH, 1),
                    new EventSource.Node("sample", "sample"),
                    EventType.FAULT_OBSERVED,
                    "",
                    "sample",
                    new EventTime(now, now, 0),
                    "");
            return List.of(new Inbound.Event(envelope, EventType.FAULT_OBSERVED.prototype(), now, false));
        }
    }

    private EngineParts<NodeHealthState> parts(CountingProjection projection) {
        var settings = new ProjectionSettings("health-service", "health-service-0", "", ProjectionSettings.SESSION);
        var config = new EngineConfig(
                settings, new Codec("c1", new Topics("gpu.")), KafkaClients.plain("127.0.0.1:1"), Clock.systemUTC());
        return new EngineParts<>(config, projection, projection, new StateListener<>() {
            @Override
            public void committed(java.util.Map<String, NodeHealthState> states, Set<String> forgotten) {
                changed.addAll(states.keySet());
            }

            @Override
            public void cleared() {
                changed.clear();
            }
        });
    }

    @Test
    void samplesAreFoldedAndEncodedAndNobodySeesThem() {
        var projection = new SampledProjection();

        // A state and a decision in each round
        assertThat(FoldWarmUp.run(parts(projection), () -> false)).isGreaterThanOrEqualTo(2);

        assertThat(projection.applied).isNotEmpty();
        assertThat(changed).isEmpty();
    }

    @Test
    void electedReplicaWarmsUpForOneRoundOnly() {
        var projection = new SampledProjection();

        FoldWarmUp.run(parts(projection), () -> true);

        assertThat(projection.applied).hasSize(1);
    }

    @Test
    void aProjectionWithoutSamplesIsNotWarmedUp() {
        assertThat(FoldWarmUp.run(parts(new CountingProjection()), () -> false)).isZero();
    }
}
