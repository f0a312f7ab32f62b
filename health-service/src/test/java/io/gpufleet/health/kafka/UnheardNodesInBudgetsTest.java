package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A node of which nothing is heard uses up the budget of nodes. One of four may be out. */
class UnheardNodesInBudgetsTest {
    private static final List<String> NODES = List.of("node-0", "node-1", "node-2", "node-3");
    private static final Progress READ = new Progress() {
        @Override
        public Duration caughtUpFor(Topic topic, String key, Instant now) {
            return Duration.ofHours(1);
        }

        @Override
        public boolean caughtUp(Instant now) {
            return true;
        }
    };

    private final HealthProjection projection = new HealthProjection(
            new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10)),
            new DisruptionBudgets(
                    List.of(),
                    new Pool("default", Map.of(), Mode.ENFORCE, new Limits(Limit.percent(25), Limit.NONE)),
                    Limits.NONE,
                    Limits.NONE,
                    StormBrake.NONE));
    private final ProjectedNodes nodes = new ProjectedNodes(projection, NodeScenario.START);

    @BeforeEach
    void fourNodes() {
        projection.restarted(nodes, nodes.now());
        NODES.forEach(node -> {
            announce(node);
            nodes.observed(node, Map.of());
        });
    }

    private void announce(String node) {
        nodes.announced(node, "gpu-" + node);
    }

    private void departs(String node) {
        nodes.daemon(
                node,
                Topic.INVENTORY,
                EventType.NODE_DEPARTED,
                NodeDeparted.newBuilder().setBootId("boot-1").build());
    }

    private void twoMinutesWithoutSamplesOf(String silent) {
        for (int second = 0; second < 120; second++) {
            nodes.advance(Duration.ofSeconds(1));
            NODES.stream().filter(node -> !node.equals(silent)).forEach(this::sample);
            projection.due(nodes, READ, nodes.now()).forEach(nodes::tick);
        }
    }

    private void sample(String node) {
        nodes.input(new Inbound.Heartbeat(Topic.TELEMETRY, node, nodes.now()));
    }

    private boolean taintedAfterXid79(String node) {
        nodes.offTheBus(node, "gpu-" + node);
        return tainted(node);
    }

    private boolean tainted(String node) {
        return nodes.get(node).orElseThrow().tainted();
    }

    @Test
    void silentNodeIsOutUntilItIsHeard() {
        twoMinutesWithoutSamplesOf("node-0");
        assertThat(taintedAfterXid79("node-1")).isFalse();

        sample("node-0");
        projection.due(nodes, READ, nodes.now()).forEach(nodes::tick);

        assertThat(tainted("node-1")).isTrue();
    }

    @Test
    void nodeWhoseDaemonDepartedIsOutAfterTheGrace() {
        departs("node-0");
        nodes.advance(Duration.ofMinutes(2));
        nodes.tick("node-0");
        assertThat(taintedAfterXid79("node-1")).isFalse();

        announce("node-0");
        nodes.tick("node-1");

        assertThat(tainted("node-1")).isTrue();
    }

    @Test
    void daemonThatIsReplacedTakesNothingOfTheBudget() {
        departs("node-0");
        nodes.advance(Duration.ofMinutes(1));
        nodes.tick("node-0");

        assertThat(taintedAfterXid79("node-1")).isTrue();
    }

    @Test
    void silentNodeIsTaintedWithinItsOwnShare() {
        twoMinutesWithoutSamplesOf("node-0");

        assertThat(taintedAfterXid79("node-0")).isTrue();
        assertThat(taintedAfterXid79("node-1")).isFalse();
    }
}
