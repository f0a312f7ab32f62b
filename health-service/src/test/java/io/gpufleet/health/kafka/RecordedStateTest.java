package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.policy.NodeAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.runtime.engine.RecordedState;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A state that a release left in its changelog is restored. For a further release put its version here, keep those before in
 * the list of the test, and run {@code mvn -pl health-service test -Dtest=RecordedStateTest -Dchangelog.write=true}.
 */
class RecordedStateTest {
    private static final String PRESENT = "0.1.0";

    private static final RecordedState<NodeState> RECORDED = new RecordedState<>(
            new HealthProjection(
                    new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10)), DisruptionBudgets.NONE),
            "health-service-0",
            "node-1");

    @BeforeAll
    static void write() throws IOException {
        if (Boolean.getBoolean("changelog.write")) {
            RECORDED.write(PRESENT, state());
        }
    }

    /** A cordoned node with a GPU that left and one that fell off the bus. */
    private static NodeState state() {
        return new NodeScenario(TestPolicies.with(NodeAction.TAINT_AND_CORDON))
                .announced("gpu-0", "gpu-1")
                .nodeObserved("uid-1")
                .xid("gpu-0", 54)
                .withIncarnation(new HealthSignal.DaemonIncarnation("boot-2", 2_000, false))
                .announced("gpu-1", "gpu-2")
                .xid("gpu-1", 79)
                .state();
    }

    @ParameterizedTest
    @ValueSource(strings = PRESENT)
    void stateOfAReleaseIsRestored(String release) throws IOException {
        NodeState restored = RECORDED.restored(release);

        assertThat(restored.hardware().former()).containsOnlyKeys("gpu-0");
        assertThat(restored.health().nodeAction()).isEqualTo(NodeAction.TAINT_AND_CORDON);
    }
}
