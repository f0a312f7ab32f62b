package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.kafka.HealthProjection;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.nodepatch.DesiredNode;
import io.gpufleet.health.model.policy.NodeAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.runtime.consistency.ProjectionSimulation;
import io.gpufleet.runtime.consistency.SimulatedActor;
import io.gpufleet.runtime.consistency.SimulatedService;
import io.gpufleet.runtime.engine.SimulatedReplica;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.PlantedDefect;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullMarked;

/** Daemons, Nodes with taints, and the reconcilers of two replicas of the health-service. */
@NullMarked
final class HealthSimulation implements SimulatedService<NodeState> {
    private static final Duration DWELL = Duration.ofSeconds(20);
    private static final Limit ROOM = Limit.percent(30);
    private static final Duration WITHIN = Duration.ofSeconds(10);
    private static final StormBrake BRAKE = new StormBrake(1, 2, WITHIN);
    private static final DisruptionBudgets BUDGETS = new DisruptionBudgets(
            List.of(),
            new Pool("default", Map.of(), Mode.ENFORCE, new Limits(ROOM, Limit.NONE)),
            Limits.NONE,
            Limits.NONE,
            BRAKE);

    private final SimulatedReplica.Shared<NodeState> shared;
    private final Random random;
    private final List<String> nodes;
    private final SimulatedWriters writers;
    private final SimulatedApiServer apiServer = new SimulatedApiServer();

    private HealthSimulation(SimulatedReplica.Shared<NodeState> shared, int nodes) {
        this.shared = shared;
        this.random = shared.random();
        this.nodes = IntStream.range(0, nodes).mapToObj(i -> "node-" + i).toList();
        this.writers = new SimulatedWriters(shared.broker(), shared.codec(), shared.fold(), random);
        this.nodes.forEach(apiServer::create);
        this.nodes.forEach(writers::boot);
    }

    static ProjectionSimulation<NodeState> of(
            long seed, int nodes, ProjectionSimulation.Pace pace, PlantedDefect defect) {
        return new ProjectionSimulation<>(
                seed, pace, defect, HealthSimulation::projection, shared -> new HealthSimulation(shared, nodes));
    }

    private static HealthProjection projection() {
        return new HealthProjection(
                new HealthMachine(
                        TestPolicies.with(
                                TestPolicies.withRecoveryDwell(DWELL), FaultCode.xid(79), NodeAction.TAINT_AND_CORDON),
                        Duration.ofMinutes(10)),
                BUDGETS);
    }

    @Override
    public void write() {
        noBudgetIsExceeded();
        String node = nodes.get(random.nextInt(nodes.size()));
        switch (random.nextInt(20)) {
            case 0 -> writers.boot(node);
            case 1 -> writers.restart(node);
            case 2, 3 -> writers.repeat(node);
            case 4 -> apiServer.disturb(node);
            case 5 -> writers.unreadable(node);
            default -> writers.fault(node);
        }
    }

    @Override
    public SimulatedActor<NodeState> actor(String instance, Link toApiServer, Clock clock, BooleanSupplier mayAct) {
        SimulatedApiServer.Client client = apiServer.client(toApiServer, mayAct);
        return new SimulatedReconciler(shared.broker().time(), client, writers.signals(instance), clock) {
            @Override
            public void disconnect() {
                apiServer.disconnect(client);
            }
        };
    }

    /** False while a node waits for the end of its recovery dwell, or the reconciler has not heard of a commit. */
    @Override
    public boolean settled() {
        HealthProjection projection = projection();
        return nodes.stream()
                        .flatMap(node -> shared.fold().get(node).stream())
                        .allMatch(state -> projection.wakeAt(state).equals(Instant.MAX))
                && nodes.stream().allMatch(node -> desiredTaint(node).equals(taint(node)))
                && nodes.stream().allMatch(node -> desiredCordon(node) == apiServer.isCordoned(node));
    }

    /** By what is committed; no Node is deleted here, so that no limit shrinks. */
    private void noBudgetIsExceeded() {
        List<NodeState> states =
                nodes.stream().flatMap(node -> shared.fold().get(node).stream()).toList();
        assertThat(states.stream().filter(NodeState::tainted))
                .as("nodes tainted")
                .hasSizeLessThanOrEqualTo(ROOM.of(nodes.size()));
        List<Instant> taints = states.stream()
                .map(state -> state.acting().policyTainted())
                .filter(at -> at.isAfter(Instant.EPOCH))
                .sorted()
                .toList();
        for (int i = 0; i + largestWave() < taints.size(); i++) {
            assertThat(Duration.between(taints.get(i), taints.get(i + largestWave())))
                    .as("time in which one node more is tainted than the brake allows")
                    .isGreaterThanOrEqualTo(WITHIN);
        }
    }

    private int largestWave() {
        return Math.max(BRAKE.atLeast(), BRAKE.percent() * nodes.size() / 100);
    }

    /** Every Node is as its verdict asks. */
    @Override
    public void check() {
        noBudgetIsExceeded();
        assertThat(nodes).allSatisfy(node -> assertThat(taint(node)).isEqualTo(desiredTaint(node)));
        assertThat(nodes)
                .allSatisfy(node -> assertThat(apiServer.isCordoned(node)).isEqualTo(desiredCordon(node)));
    }

    /** What a person cordoned stays so. */
    private boolean desiredCordon(String node) {
        return desired(node).cordon() || apiServer.isCordonedByAPerson(node);
    }

    /** Empty for no taint. */
    private String desiredTaint(String node) {
        return desired(node).taint();
    }

    private DesiredNode desired(String node) {
        return DesiredNode.of(Verdict.of(shared.fold().get(node).orElseThrow()));
    }

    private String taint(String node) {
        return Optional.ofNullable(apiServer.taint(node)).orElse("");
    }
}
