package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.drain.SimulatedPods;
import io.gpufleet.health.app.remediation.SimulatedExecutors;
import io.gpufleet.health.app.remediation.SimulatedRemediator;
import io.gpufleet.health.kafka.HealthProjection;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeBudgetShareCalculator;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.FleetUsage;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.DrainSettings;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import io.gpufleet.health.model.nodepatch.DesiredNode;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.NodeAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.RemediationSettings;
import io.gpufleet.runtime.consistency.ProjectionSimulation;
import io.gpufleet.runtime.consistency.SimulatedActor;
import io.gpufleet.runtime.consistency.SimulatedService;
import io.gpufleet.runtime.engine.SimulatedReplica;
import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.PlantedDefect;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

    private static final Duration JOB_INTERVAL = Duration.ofSeconds(30);
    private static final int NODES_OF_A_JOB = 3;

    private final SimulatedReplica.Shared<NodeState> shared;
    private final Random random;
    private final List<String> nodes;
    private final SimulatedWriters writers;
    private final SimulatedApiServer apiServer = new SimulatedApiServer();
    private final HealthPolicy policy;
    private final SimulatedPods pods;
    private final SimulatedExecutors executors;

    private HealthSimulation(SimulatedReplica.Shared<NodeState> shared, int nodes) {
        this.shared = shared;
        this.random = shared.random();
        this.policy = policy(nodes);
        this.nodes = IntStream.range(0, nodes).mapToObj(i -> "node-" + i).toList();
        this.writers = new SimulatedWriters(shared.broker(), shared.codec(), shared.fold(), random);
        this.pods = new SimulatedPods(
                shared.broker().time(), shared.fold(), JOB_INTERVAL, ProjectionSettings.LEASE, this::holders);
        this.executors = new SimulatedExecutors(random, shared.fold(), this::repair);
        this.nodes.forEach(apiServer::create);
        this.nodes.forEach(this::boot);
    }

    private void boot(String node) {
        writers.boot(node);
        holders(node);
    }

    private void holders(String node) {
        writers.held(node, pods.holdings(node));
    }

    private void repair(String node, Remediation asked) {
        if (asked.boots()) {
            boot(node);
        } else {
            asked.target().devices().forEach(device -> writers.repaired(node, device.uuid()));
        }
    }

    static ProjectionSimulation<NodeState> of(
            long seed, int nodes, ProjectionSimulation.Pace pace, PlantedDefect defect) {
        return new ProjectionSimulation<>(
                seed, pace, defect, () -> projection(policy(nodes)), shared -> new HealthSimulation(shared, nodes));
    }

    private static HealthProjection projection(HealthPolicy policy) {
        return new HealthProjection(new HealthMachine(policy, Duration.ofMinutes(10)), BUDGETS);
    }

    /** Drains and remediations, a twentieth of the fleet at once. */
    private static HealthPolicy policy(int nodes) {
        int atOnce = Math.max(2, nodes / 20);
        return TestPolicies.acting(
                TestPolicies.with(
                        TestPolicies.draining(TestPolicies.withRecoveryDwell(DWELL), DrainMode.GPU_PODS),
                        FaultCode.xid(79),
                        NodeAction.TAINT_AND_CORDON),
                new DrainSettings(
                        new DrainSettings.Times(Duration.ofSeconds(1), Duration.ofMinutes(1), JOB_INTERVAL),
                        DrainSettings.OnDeadline.WAIT,
                        atOnce,
                        List.of("*"),
                        List.of(),
                        MaintenanceWindows.ANY_TIME),
                new RemediationSettings(
                        Set.of(RecommendedAction.RESET_GPU, RecommendedAction.REBOOT),
                        Duration.ofMinutes(1),
                        atOnce,
                        MaintenanceWindows.ANY_TIME));
    }

    @Override
    public void write() {
        noLimitIsExceeded();
        String node = nodes.get(random.nextInt(nodes.size()));
        switch (random.nextInt(26)) {
            case 0 -> boot(node);
            case 1 -> {
                writers.restart(node);
                holders(node);
            }
            case 2, 3 -> writers.repeat(node);
            case 4 -> apiServer.disturb(node);
            case 5 -> writers.unreadable(node);
            case 6, 7 -> schedule(node);
            case 8 -> pods.block(job());
            case 9, 10, 11 -> executors.act();
            default -> writers.fault(node);
        }
    }

    private String job() {
        return "job-" + random.nextInt(Math.max(2, nodes.size() / NODES_OF_A_JOB));
    }

    /** The scheduler sees the taint, and the kubelet admits no pod to a GPU that it does not offer. */
    private void schedule(String node) {
        String device = SimulatedWriters.gpu(node, random.nextInt(SimulatedWriters.GPUS));
        boolean withdrawn = shared.fold()
                .get(node)
                .filter(state -> state.device(device).filter(state::withdrawn).isPresent())
                .isPresent();
        if (apiServer.taint(node) == null && !withdrawn) {
            pods.start(node, job(), device);
        }
    }

    @Override
    public SimulatedActor<NodeState> actor(
            String instance, Link toApiServer, BrokerClock clock, BooleanSupplier mayAct) {
        SimulatedApiServer.Client client = apiServer.client(toApiServer, mayAct);
        var clients = new SimulatedReconciler.Clients(
                client, pods.client(toApiServer, mayAct), executors.client(toApiServer, mayAct));
        return new SimulatedReconciler(shared.broker().time(), clients, writers.observations(instance), policy, clock) {
            @Override
            public void disconnect() {
                apiServer.disconnect(client);
            }
        };
    }

    /**
     * False while a node waits for the end of its recovery dwell, or for room that there is, while a drain or a remediation is due
     * or under way, or the reconciler has not heard of a commit. Nothing refuses or is stuck any more.
     */
    @Override
    public boolean settled() {
        pods.unblock();
        executors.finish();
        HealthProjection projection = projection(policy);
        return states().allMatch(state -> projection.wakeAt(state).equals(Instant.MAX))
                && states().allMatch(this::isDrained)
                && states().allMatch(state -> SimulatedRemediator.done(
                        state, policy, shared.broker().time().now()))
                && !roomIsLeft()
                && nodes.stream().allMatch(node -> desiredTaint(node).equals(taint(node)))
                && nodes.stream().allMatch(node -> desiredCordon(node) == apiServer.isCordoned(node));
    }

    private Stream<NodeState> states() {
        return nodes.stream().flatMap(node -> shared.fold().get(node).stream());
    }

    private boolean isDrained(NodeState state) {
        DrainProgress.Phase phase = state.acting().drain().phase();
        return state.drainOrder().isNone()
                ? phase != DrainProgress.Phase.ACTIVE && phase != DrainProgress.Phase.WAITING
                : phase == DrainProgress.Phase.DRAINED
                        && !state.acting()
                                .holdings()
                                .heldByAny(state.drainOrder().devices());
    }

    /**
     * Whether a node is held back though there is room for it. Which of them got the room depends on the order between
     * partitions.
     */
    private boolean roomIsLeft() {
        var usage = new FleetUsage(BUDGETS);
        states().forEach(state -> usage.put(state.node().name(), NodeBudgetShareCalculator.of(state)));
        states().filter(state -> state.acting().policyTainted().isAfter(Instant.EPOCH))
                .forEach(state ->
                        usage.tainted(state.node().name(), state.acting().policyTainted()));
        Instant now = shared.broker().time().now();
        return states().filter(state -> state.heldBack().containsKey(""))
                .anyMatch(state -> usage.allowance(state.node().name(), NodeBudgetShareCalculator.of(state), now)
                        .refusesTaint()
                        .isEmpty());
    }

    /** By what is committed; no Node is deleted here, so that no limit shrinks. */
    private void noLimitIsExceeded() {
        List<NodeState> states = states().toList();
        assertThat(states.stream().filter(state -> state.acting().drain().active()))
                .as("nodes being drained")
                .hasSizeLessThanOrEqualTo(policy.drain().nodes());
        assertThat(states.stream().filter(state -> state.acting().remediation().open()))
                .as("nodes with an open remediation")
                .hasSizeLessThanOrEqualTo(policy.remediation().nodes());
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

    /** Every Node is as its verdict asks, and nobody waits for what there is. */
    @Override
    public void check() {
        noLimitIsExceeded();
        assertThat(roomIsLeft()).as("a taint is held back though there is room").isFalse();
        // Somebody was asked for something, or nothing was shown.
        assertThat(executors.made()).as("remediations").isPositive();
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
