package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.health.config.PolicyTexts;
import io.gpufleet.health.model.FleetCommandDecider;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.Outcome;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.Command;
import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Budgets and the storm brake over several nodes, beyond the life of one batch and one replica. */
class FleetBudgetsTest {
    private static final StormBrake ONE_NODE = new StormBrake(1, 1, Duration.ofMinutes(5));

    private final CatchUpStatus backlog = new CatchUpStatus();
    private HealthMachine machine = new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10));
    private DisruptionBudgets pools = DisruptionBudgets.NONE;
    private HealthProjection projection = projection(Limits.NONE, ONE_NODE);
    private ProjectedNodes nodes = new ProjectedNodes(projection, NodeScenario.START);

    private HealthProjection projection(Limits limits, StormBrake brake) {
        pools = budgets(Mode.ENFORCE, limits, brake);
        return new HealthProjection(() -> machine, () -> pools, backlog);
    }

    private static DisruptionBudgets budgets(Mode mode, Limits limits, StormBrake brake) {
        var pool = new Pool("default", Map.of(), mode, limits);
        return new DisruptionBudgets(List.of(), pool, Limits.NONE, Limits.NONE, brake);
    }

    @BeforeEach
    void fourNodes() {
        for (int i = 0; i < 4; i++) {
            nodes.daemon(
                    "node-" + i,
                    Topic.INVENTORY,
                    EventType.NODE_ANNOUNCED,
                    NodeAnnounced.newBuilder()
                            .setBootId("boot-1")
                            .addGpus(Gpu.newBuilder().setUuid("gpu-" + i))
                            .addGpus(Gpu.newBuilder().setUuid("gpu-1" + i))
                            .build());
            nodes.observed("node-" + i, Map.of());
        }
    }

    private void nextReplica() {
        projection = new HealthProjection(() -> machine, () -> pools, backlog);
        nodes = nodes.restored(projection);
    }

    private Effects<NodeState> offTheBus(int node) {
        return nodes.offTheBus("node-" + node, "gpu-" + node);
    }

    private Effects<NodeState> brakeReset() {
        return nodes.service(
                FleetCommandDecider.FLEET,
                EventType.COMMAND_ISSUED,
                OperatorCommand.newBuilder()
                        .setCommand(Command.COMMAND_RESET_BRAKE)
                        .setUser("ada")
                        .setReason("the rack lost power")
                        .build());
    }

    private void quarantine(int node) {
        nodes.service(
                "node-" + node,
                EventType.COMMAND_ISSUED,
                OperatorCommand.newBuilder()
                        .setCommand(Command.COMMAND_QUARANTINE)
                        .setUser("ada")
                        .setReason("fan is noisy")
                        .build());
    }

    private boolean tainted(int node) {
        return nodes.get("node-" + node).orElseThrow().tainted();
    }

    private static List<DecisionTaken> decisions(Effects<NodeState> effects) {
        return effects.outputs().stream()
                .filter(Outbound.Event.class::isInstance)
                .map(output -> ((Outbound.Event) output).payload())
                .filter(DecisionTaken.class::isInstance)
                .map(DecisionTaken.class::cast)
                .toList();
    }

    @Test
    void quarantineByHandNeedsNoRoomAndTakesNoneOfTheStormBrake() {
        quarantine(0);
        offTheBus(1);
        quarantine(2);
        offTheBus(3);

        assertThat(List.of(tainted(0), tainted(1), tainted(2), tainted(3))).containsExactly(true, true, true, false);
    }

    @Test
    void decisionNamesTheBudgetThatWasChecked() {
        assertThat(decisions(offTheBus(0)))
                .anySatisfy(decision -> assertThat(decision.getBudget()).isEqualTo("storm brake: 0 tainted, limit 1"));

        assertThat(decisions(offTheBus(1))).anySatisfy(decision -> {
            assertThat(decision.getOutcome()).isEqualTo(Outcome.OUTCOME_OVER_BUDGET);
            assertThat(decision.getBudget()).isEqualTo("storm brake: 1 tainted, limit 1");
        });
    }

    @Test
    void operatorOpensTheStormBrakeWithAReason() {
        // Given
        offTheBus(0);
        offTheBus(1);
        assertThat(tainted(1)).isFalse();

        // When
        List<DecisionTaken> recorded = decisions(brakeReset());
        nodes.tick("node-1");

        // Then
        assertThat(tainted(1)).isTrue();
        assertThat(recorded).hasSize(1);
        assertThat(recorded.getFirst().getAction()).isEqualTo("open storm brake");
        assertThat(recorded.getFirst().getReason()).isEqualTo("ada: the rack lost power");
        offTheBus(2);
        assertThat(tainted(2)).as("it closes again").isFalse();
    }

    @Test
    void nextReplicaKnowsThatTheBrakeWasOpened() {
        // Given
        offTheBus(0);
        nextReplica();
        offTheBus(1);
        assertThat(tainted(1)).as("what the replica before tainted counts").isFalse();

        // When
        nodes.advance(Duration.ofSeconds(1));
        brakeReset();
        nextReplica();

        // Then
        offTheBus(2);
        assertThat(tainted(2)).as("up to the command it does not").isTrue();
        nextReplica();
        offTheBus(3);
        assertThat(tainted(3)).as("after it does").isFalse();
    }

    @Test
    void nextReplicaCountsATaintFromWhenItWasApplied() {
        // Given a fault that was held back at first
        offTheBus(0);
        offTheBus(1);
        nodes.advance(Duration.ofMinutes(6));
        nodes.tick("node-1");
        assertThat(tainted(1)).isTrue();

        // When
        nodes.advance(Duration.ofMinutes(1));
        nextReplica();

        // Then
        offTheBus(2);
        assertThat(tainted(2)).isFalse();
        nodes.advance(Duration.ofMinutes(4));
        nodes.tick("node-2");
        assertThat(tainted(2)).as("five minutes after that taint").isTrue();
    }

    @Test
    void nextReplicaCountsNoQuarantineByHand() {
        quarantine(0);
        nextReplica();
        offTheBus(1);
        assertThat(tainted(1)).isTrue();
    }

    @Test
    void batchWithTheCommandThatIsUndoneLeavesTheBrakeClosed() {
        offTheBus(0);
        nodes.undone(this::brakeReset);
        offTheBus(1);
        assertThat(tainted(1)).isFalse();
    }

    @Test
    void openedBrakeIsForgottenAfterADay() {
        brakeReset();
        NodeState fleet = nodes.get(FleetCommandDecider.FLEET).orElseThrow();
        nodes.advance(Duration.ofHours(24));

        assertThat(projection.wakeAt(fleet)).isEqualTo(nodes.now());
        nodes.tick(FleetCommandDecider.FLEET);
        assertThat(nodes.get(FleetCommandDecider.FLEET)).isEmpty();
    }

    @Test
    void batchThatIsUndoneLeavesTheBrakeAsItWas() {
        nodes.undone(() -> offTheBus(0));

        offTheBus(1);

        assertThat(tainted(1)).isTrue();
    }

    @Test
    void batchThatIsUndoneLeavesTheBudgetsAsTheyWere() {
        // Given
        projection = projection(new Limits(Limit.percent(25), Limit.percent(25)), StormBrake.NONE);
        nodes = new ProjectedNodes(projection, NodeScenario.START);
        fourNodes();

        // When
        nodes.undone(() -> offTheBus(0));
        offTheBus(1);
        nodes.undone(() -> nodes.daemon(
                "node-1",
                Topic.HEALTH,
                EventType.FAULT_CLEARED,
                io.gpufleet.proto.health.v1.FaultCleared.newBuilder()
                        .setBootId("boot-1")
                        .setFault(Fault.newBuilder()
                                .setDeviceUuid("gpu-1")
                                .setKind(FaultKind.FAULT_KIND_XID)
                                .setXid(79))
                        .build()));
        offTheBus(2);

        // Then
        assertThat(tainted(1)).isTrue();
        assertThat(tainted(2)).as("one of four may be out").isFalse();
    }

    @Test
    void backlogOpensForANodeOnceWhatWasReadOfItIsCommitted() {
        // Given
        projection.restarted(nodes, nodes.now());
        assertThat(backlog.isRead("node-1")).isFalse();
        assertThat(backlog.isRead("node-2")).isFalse();

        // When what was read is in the batch of this tick
        projection.due(nodes, new Read(Set.of("node-1"), false), nodes.now());
        assertThat(backlog.isRead("node-1")).isFalse();

        // Then it is committed at the next one
        projection.due(nodes, new Read(Set.of("node-1"), false), nodes.now());
        assertThat(backlog.isRead("node-1")).isTrue();
        assertThat(backlog.isRead("node-2")).isFalse();
        projection.due(nodes, new Read(Set.of(), true), nodes.now());
        assertThat(backlog.isRead("node-2")).isFalse();
        projection.due(nodes, new Read(Set.of(), true), nodes.now());
        assertThat(backlog.isRead("node-2")).isTrue();
    }

    @Test
    void backlogStaysClosedWhileOneInputOfTheNodeLags() {
        projection.restarted(nodes, nodes.now());
        assertThat(backlog.isRead("node-1")).isFalse();

        projection.due(
                nodes,
                new Progress() {
                    @Override
                    public Duration caughtUpFor(Topic topic, String key, Instant now) {
                        return topic == Topic.INVENTORY ? Duration.ZERO : Duration.ofMinutes(1);
                    }

                    @Override
                    public boolean caughtUp(Instant now) {
                        return false;
                    }
                },
                nodes.now());

        assertThat(backlog.isRead("node-1")).isFalse();
    }

    @Test
    void replacedPolicyDecidesAboutEveryNodeAgain() {
        // Given
        offTheBus(0);
        assertThat(tainted(0)).isTrue();

        // When
        machine = new HealthMachine(
                PolicyTexts.nvidiaWith("  RESTART_BM: {class: taint-reboot", "  RESTART_BM: {class: suspect"),
                Duration.ofMinutes(10));
        List<String> due = List.copyOf(projection.due(nodes, new Read(Set.of(), true), nodes.now()));
        due.forEach(nodes::tick);

        // Then
        assertThat(due).hasSize(4);
        assertThat(tainted(0)).isFalse();
        assertThat(projection.due(nodes, new Read(Set.of(), true), nodes.now())).isEmpty();
    }

    @Test
    void replacedPoolsGiveRoomToWhatWasHeldBack() {
        // Given
        Limits oneNode = new Limits(new Limit(100, 1), Limit.NONE);
        projection = projection(oneNode, StormBrake.NONE);
        nodes = new ProjectedNodes(projection, NodeScenario.START);
        fourNodes();
        offTheBus(0);
        offTheBus(1);
        assertThat(tainted(1)).isFalse();

        // When
        pools = budgets(Mode.ENFORCE, new Limits(new Limit(100, 2), Limit.NONE), StormBrake.NONE);
        projection.due(nodes, new Read(Set.of(), true), nodes.now()).forEach(nodes::tick);

        // Then
        assertThat(tainted(1)).isTrue();
        offTheBus(2);
        assertThat(tainted(2)).as("the new limit holds, too").isFalse();
    }

    @Test
    void poolsThatOnlyObserveLiftWhatWasEnforced() {
        // Given
        offTheBus(0);
        assertThat(tainted(0)).isTrue();

        // When
        pools = budgets(Mode.OBSERVE, Limits.NONE, StormBrake.NONE);
        projection.due(nodes, new Read(Set.of(), true), nodes.now()).forEach(nodes::tick);

        // Then
        assertThat(tainted(0)).isFalse();
    }

    /** Nodes whose partitions are read to their ends. */
    private record Read(Set<String> read, boolean all) implements Progress {
        @Override
        public Duration caughtUpFor(Topic topic, String key, Instant now) {
            return read.contains(key) ? Duration.ofSeconds(1) : Duration.ZERO;
        }

        @Override
        public boolean caughtUp(Instant now) {
            return all;
        }
    }
}
