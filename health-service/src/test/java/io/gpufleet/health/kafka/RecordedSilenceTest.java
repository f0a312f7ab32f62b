package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.DaemonSilence;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Silences in the decisions that the service records. */
class RecordedSilenceTest {
    private static final Instant AT = Instant.parse("2026-03-01T10:00:00Z");

    private final NodeScenario scenario =
            new NodeScenario(TestPolicies.standard()).announced("gpu-0").xid("gpu-0", 79);

    /** What is read of the decisions that the newest signal led to. */
    private List<HealthSignal> read() {
        return OutboundMapper.toWire(scenario.results().getLast(), AT, "").stream()
                .filter(output -> output.payload() instanceof DecisionTaken)
                .map(output -> RecordedSilence.toModel(appended(), (DecisionTaken) output.payload()))
                .flatMap(Optional::stream)
                .toList();
    }

    private static Inbound.Event appended() {
        var envelope = new Envelope(
                new EventId("health-service-0", 1, Topic.DECISIONS, 1),
                new EventSource.Service("c1", "health-service-0"),
                EventType.DECISION_TAKEN,
                "",
                "node-1",
                new EventTime(AT, AT, 0),
                "");
        return new Inbound.Event(envelope, DecisionTaken.getDefaultInstance(), AT, false);
    }

    private static HealthSignal silence(boolean silent) {
        return new DaemonSilence(new EventMetadata("", AT, Duration.ZERO), silent);
    }

    @Test
    void silenceIsReadAsItWasNoticed() {
        scenario.handle(new DaemonSilence(scenario.nextMetadata(), true));
        assertThat(read()).containsExactly(silence(true));

        scenario.handle(new DaemonSilence(scenario.nextMetadata(), false));
        assertThat(read()).containsExactly(silence(false));
    }

    @Test
    void otherDecisionsAreNoSilence() {
        assertThat(scenario.results().getLast().decisions()).isNotEmpty();
        assertThat(read()).isEmpty();
    }
}
