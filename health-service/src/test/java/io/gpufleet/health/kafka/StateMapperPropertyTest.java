package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.NodeStateChange;
import io.gpufleet.health.model.RandomSignals;
import io.gpufleet.health.model.StateReducer;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.Remediation.RemediatedDevice;
import io.gpufleet.health.model.remediation.Remediation.Target;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.wire.Codec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** What a restart loads is what was in memory, byte for byte when it is written again. */
class StateMapperPropertyTest {
    private final HealthMachine machine =
            new HealthMachine(TestPolicies.withRecoveryDwell(Duration.ofSeconds(1)), Duration.ofMinutes(10));

    @Property
    void everyStateIsReadAsItWasWritten(@ForAll long seed, @ForAll long order) throws InvalidProtocolBufferException {
        NodeState state = NodeState.unknown("node-1", NodeScenario.START);
        for (HealthSignal signal : RandomSignals.interleaved(RandomSignals.of(seed), order)) {
            state = machine.decide(state, signal, signal.metadata().at()).state();
            byte[] written = Codec.toJson(StateMapper.toWire(state));

            NodeState read = StateMapper.toModel(
                    "node-1", (NodeHealthState) Codec.fromJson(written, NodeHealthState.getDefaultInstance()));

            assertThat(read).isEqualTo(state);
            assertThat(Codec.toJson(StateMapper.toWire(read))).isEqualTo(written);
        }
    }

    @Property(tries = 50)
    void manualOverrideIsReadAsItWasWritten(@ForAll long seconds) {
        var story = new NodeScenario(TestPolicies.standard())
                .announced("gpu-0")
                .advance(Duration.ofSeconds(Math.floorMod(seconds, 1_000_000L)))
                .xid("gpu-0", 79)
                .taintRemoved();
        assertThat(story.state().override()).isNotNull();

        assertThat(StateMapper.toModel("node-1", StateMapper.toWire(story.state())))
                .isEqualTo(story.state());
    }

    @Property(tries = 50)
    void aRemediationIsReadAsItWasWritten(@ForAll long seconds, @ForAll RemediationProgress.Phase phase) {
        Instant at = NodeScenario.START
                .plusSeconds(Math.floorMod(seconds, 1_000_000L))
                .plusNanos(7);
        var remediation = new Remediation(
                new Target("uid-1", "boot-1", List.of(new RemediatedDevice("gpu-0", "123"))),
                RecommendedAction.REBOOT,
                "xid-79",
                2,
                at,
                List.of("event-1"));
        NodeState state = StateReducer.apply(
                NodeState.unknown("node-1", NodeScenario.START),
                new NodeStateChange.RemediationChanged(new RemediationProgress(remediation, phase, at, "why")));

        assertThat(StateMapper.toModel("node-1", StateMapper.toWire(state))).isEqualTo(state);
    }
}
