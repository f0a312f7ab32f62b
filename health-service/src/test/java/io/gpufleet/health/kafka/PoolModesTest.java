package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HeldBack;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** One pool observes while the others enforce. */
class PoolModesTest {
    private final ProjectedNodes nodes = new ProjectedNodes(
            new HealthProjection(
                    new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10)),
                    new DisruptionBudgets(
                            List.of(new Pool("canary", Map.of("pool", "canary"), Mode.OBSERVE, Limits.NONE)),
                            new Pool("default", Map.of(), Mode.ENFORCE, Limits.NONE),
                            Limits.NONE,
                            Limits.NONE,
                            StormBrake.NONE)),
            NodeScenario.START);

    private void observed(String node, Map<String, String> labels) {
        nodes.observed(node, labels);
    }

    private void offTheBus(String node) {
        nodes.announced(node, "gpu-" + node);
        nodes.offTheBus(node, "gpu-" + node);
    }

    private NodeState state(String node) {
        return nodes.get(node).orElseThrow();
    }

    private boolean withdrawn(String node) {
        return state(node).withdrawn(state(node).device("gpu-" + node).orElseThrow());
    }

    @Test
    void labelOfTheNodeDecidesWhetherADecisionIsCarriedOut() {
        // Given
        observed("node-1", Map.of("pool", "canary"));
        observed("node-2", Map.of("pool", "training"));
        observed("node-3", Map.of());

        // When
        List.of("node-1", "node-2", "node-3").forEach(this::offTheBus);

        // Then
        assertThat(state("node-1").heldBack().keySet()).containsExactly("", "gpu-node-1");
        assertThat(state("node-1").heldBack().values())
                .allSatisfy(heldBack -> assertThat(heldBack.observed()).isTrue());
        assertThat(List.of(state("node-1"), state("node-2"), state("node-3")))
                .extracting(NodeState::tainted)
                .containsExactly(false, true, true);
        assertThat(List.of("node-1", "node-2", "node-3")).map(this::withdrawn).containsExactly(false, true, true);
    }

    @Test
    void decisionThatMovesANodeIsUnderTheModeOfItsNewPool() {
        observed("node-1", Map.of());
        offTheBus("node-1");
        assertThat(state("node-1").tainted()).isTrue();

        observed("node-1", Map.of("pool", "canary"));
        assertThat(state("node-1").tainted()).isFalse();
        assertThat(withdrawn("node-1")).isFalse();

        observed("node-1", Map.of());
        assertThat(state("node-1").heldBack().values())
                .as("what waits for the budgets of the new pool")
                .isNotEmpty()
                .noneMatch(HeldBack::observed);
    }

    @Test
    void nodeThatIsLabelledAnewIsTreatedAsItsNewPoolFromTheNextDecisionOn() {
        // Given
        observed("node-1", Map.of("pool", "canary"));
        observed("node-2", Map.of());
        List.of("node-1", "node-2").forEach(this::offTheBus);

        // When
        observed("node-1", Map.of());
        observed("node-2", Map.of("pool", "canary"));
        List.of("node-1", "node-2").forEach(nodes::tick);

        // Then
        assertThat(state("node-1").tainted()).isTrue();
        assertThat(withdrawn("node-1")).isTrue();
        assertThat(state("node-2").tainted()).isFalse();
        assertThat(withdrawn("node-2")).isFalse();
    }
}
