package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ForgettableNodeTest {
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");

    @Test
    void nodeMayBeForgottenThirtyDaysAfterItsLastSign() {
        // Given
        scenario.nodeObserved("uid-1").xid("gpu-0", 79);
        assertThat(scenario.state().forgettableAt()).isEmpty();
        scenario.nodeDeleted("uid-1");
        assertThat(scenario.state().forgettableAt()).contains(scenario.now().plus(Duration.ofDays(30)));

        // When
        scenario.advance(Duration.ofDays(2)).cleared("gpu-0", FaultCode.xid(79));

        // Then
        assertThat(scenario.state().forgettableAt()).contains(scenario.now().plus(Duration.ofDays(30)));
    }

    @Test
    void nodeThatNeverHadANodeObjectMayBeForgottenToo() {
        assertThat(scenario.state().forgettableAt()).contains(scenario.now().plus(Duration.ofDays(30)));

        scenario.advance(Duration.ofDays(2)).xid("gpu-0", 79);
        assertThat(scenario.state().forgettableAt()).contains(scenario.now().plus(Duration.ofDays(30)));

        scenario.nodeObserved("uid-1");
        assertThat(scenario.state().forgettableAt()).isEmpty();
    }

    @Test
    void nodeWhoseObjectIsBackIsRemembered() {
        scenario.nodeObserved("uid-1").nodeDeleted("uid-1").nodeObserved("uid-1");
        assertThat(scenario.state().forgettableAt()).isEmpty();

        scenario.nodeDeleted("uid-1").nodeObserved("uid-2");
        assertThat(scenario.state().forgettableAt()).isEmpty();
    }

    @Test
    void deletionOfAFormerNodeObjectIsIgnored() {
        scenario.nodeObserved("uid-1").nodeObserved("uid-2").nodeDeleted("uid-1");

        assertThat(scenario.state().forgettableAt()).isEmpty();
    }

    @Test
    void nodeWithARetiredDeviceIsNeverForgotten() {
        scenario.nodeObserved("uid-1")
                .command(Command.QUARANTINE, "gpu-0")
                .command(Command.RETIRE, "gpu-0")
                .nodeDeleted("uid-1");

        assertThat(scenario.state().forgettableAt()).isEmpty();
    }

    @Test
    void deletionOfTheNodeObjectPublishesNoVerdict() {
        scenario.nodeObserved("uid-1").xid("gpu-0", 79).nodeDeleted("uid-1");

        assertThat(scenario.results().getLast().effects()).isEmpty();
    }
}
