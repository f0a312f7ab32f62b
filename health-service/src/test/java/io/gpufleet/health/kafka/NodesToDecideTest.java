package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Nodes that are decided about again without an event: all in turn, and again when a batch was undone. */
class NodesToDecideTest {
    private static final int HELD_BACK = 1_000;
    private static final int BRAKE = 11;
    private static final Pool TRAINING =
            new Pool("training", Map.of("pool", "training"), Mode.ENFORCE, new Limits(new Limit(1, 1), Limit.NONE));
    private static final Pool DEFAULT = new Pool("default", Map.of(), Mode.ENFORCE, Limits.NONE);

    private final DisruptionBudgets budgets = new DisruptionBudgets(
            List.of(TRAINING), DEFAULT, Limits.NONE, Limits.NONE, new StormBrake(1, BRAKE, Duration.ofMinutes(5)));
    private HealthMachine machine = new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10));
    private final HealthProjection projection = new HealthProjection(() -> machine, () -> budgets, new CatchUpStatus());
    private final ProjectedNodes nodes = new ProjectedNodes(projection, NodeScenario.START);

    private void offTheBus(String node, Map<String, String> labels) {
        nodes.observed(node, labels);
        nodes.offTheBus(node, "GPU of " + node);
    }

    private boolean tainted(String node) {
        return nodes.get(node).orElseThrow().tainted();
    }

    private void lookAgain() {
        due().forEach(nodes::tick);
    }

    @Test
    void nodesOfAFullPoolDoNotStarveTheOthers() {
        // Given
        for (int i = 0; i <= HELD_BACK; i++) {
            offTheBus("training-" + i, TRAINING.selector());
        }
        for (int i = 1; i < BRAKE; i++) {
            offTheBus("other-" + i, Map.of());
        }
        offTheBus("last", Map.of());
        assertThat(tainted("last")).as("the brake is closed").isFalse();

        // When
        nodes.advance(Duration.ofMinutes(5));
        lookAgain();
        lookAgain();

        // Then
        assertThat(tainted("last")).isTrue();
    }

    @Test
    void reviewAfterAnotherPolicyIsRepeatedWhenItsBatchIsUndone() {
        // Given
        offTheBus("node-1", Map.of());
        machine = new HealthMachine(TestPolicies.withRecoveryDwell(Duration.ofHours(1)), Duration.ofMinutes(10));

        // When
        List<String> first = due();
        nodes.undone(() -> offTheBus("node-1", Map.of()));

        // Then
        assertThat(first).containsExactly("node-1");
        assertThat(due()).isEqualTo(first);
        assertThat(due()).isEmpty();
    }

    @Test
    void reviewAfterAnotherPolicyGoesOnInTheNextTerm() {
        // Given
        offTheBus("node-1", Map.of());
        machine = new HealthMachine(TestPolicies.withRecoveryDwell(Duration.ofHours(1)), Duration.ofMinutes(10));
        List<String> first = due();

        // When
        projection.restarted(nodes, nodes.now());

        // Then
        assertThat(due()).isEqualTo(first);
    }

    private List<String> due() {
        return List.copyOf(projection.due(nodes, new NothingRead(), nodes.now()));
    }
}
