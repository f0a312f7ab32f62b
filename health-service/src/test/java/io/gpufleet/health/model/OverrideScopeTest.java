package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A removed taint is an override for the faults that it stood for, and for no other. */
class OverrideScopeTest {
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");

    @Test
    void faultBetweenTheRemovalAndItsConfirmationIsNotCovered() {
        // Given
        long removed = scenario.xid("gpu-0", 79).verdict().revision();
        scenario.xid("gpu-1", 79);

        // When
        scenario.taintRemoved(removed);

        // Then
        assertThat(scenario.state().override()).isNull();
        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void verdictWithoutANewCauseLeavesTheRemovalInForce() {
        // Given
        long removed = scenario.xid("gpu-0", 79).verdict().revision();
        scenario.xid("gpu-1", 63);
        assertThat(scenario.verdict().revision()).isGreaterThan(removed);

        // When
        scenario.taintRemoved(removed);

        // Then
        assertThat(scenario.verdict().trusted()).isTrue();
    }

    @Test
    void faultThatIsAppendedEarlierAndReadLaterEndsTheOverride() {
        // Given
        scenario.xid("gpu-0", 79).taintRemoved();
        assertThat(scenario.verdict().trusted()).isTrue();

        // When
        scenario.advance(Duration.ofSeconds(-5)).xid("gpu-1", 79);

        // Then
        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void taintAfterTheOverrideCanBeRemovedAgain() {
        scenario.xid("gpu-0", 79).taintRemoved().advance(Duration.ofHours(24)).tick();
        assertThat(scenario.verdict().trusted()).isFalse();

        scenario.taintRemoved();

        assertThat(scenario.verdict().trusted()).isTrue();
    }

    @Test
    void quarantineOfTheNodeNamesItsCommandAsEvidence() {
        scenario.xid("gpu-0", 63).command(Command.QUARANTINE, "");

        assertThat(scenario.verdict().evidence())
                .hasSize(2)
                .first()
                .isEqualTo(scenario.lastDecisions().getFirst().evidence().getFirst());
    }

    @Test
    void quarantineOfTheNodeOutlivesItsNodeObject() {
        scenario.nodeObserved("uid-1").command(Command.QUARANTINE, "").nodeDeleted("uid-1");

        scenario.nodeObserved("uid-2");

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().node().uid()).isEqualTo("uid-2");
    }

    @Test
    void quarantineOfTheNodeEndsWithTheMachine() {
        scenario.command(Command.QUARANTINE, "");

        scenario.withIncarnation(new HealthSignal.DaemonIncarnation("boot-x", 5, true))
                .announced("gpu-9");

        assertThat(scenario.verdict().trusted()).isTrue();
    }

    @Test
    void clearedFaultOfAnotherRecoveryActionEndsOnlyThatOne() {
        scenario.fault("gpu-0", FaultCode.recovery(RecoveryAction.GPU_RESET), RecoveryAction.GPU_RESET)
                .fault("gpu-0", FaultCode.recovery(RecoveryAction.NODE_REBOOT), RecoveryAction.NODE_REBOOT)
                .cleared("gpu-0", FaultCode.recovery(RecoveryAction.GPU_RESET));

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.state().episodesOf("gpu-0")).hasSize(1);
    }
}
