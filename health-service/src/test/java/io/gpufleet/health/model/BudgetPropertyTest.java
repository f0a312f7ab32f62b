package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.FleetUsage;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Under any order of events no taint and no withdrawal of the policy exceeds a budget. */
class BudgetPropertyTest {
    private static final int NODES = 24;
    private static final List<String> GPUS = List.of("gpu-0", "gpu-1", "gpu-2", "gpu-3");
    private static final int[] XIDS = {13, 48, 79, 79, 54, 95};

    private static final DisruptionBudgets PROTECTION = new DisruptionBudgets(
            List.of(new Pool(
                    "training",
                    Map.of("pool", "training"),
                    Mode.ENFORCE,
                    new Limits(new Limit(25, 2), Limit.percent(20)))),
            new Pool("default", Map.of(), Mode.ENFORCE, new Limits(Limit.percent(60), Limit.percent(30))),
            new Limits(Limit.percent(60), Limit.percent(25)),
            new Limits(Limit.percent(50), Limit.percent(15)),
            new StormBrake(5, 2, Duration.ofMinutes(5)));

    private final Map<String, NodeState> states = new HashMap<>();
    private final FleetUsage usage = new FleetUsage(PROTECTION);
    private final HealthMachine machine = new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10));
    private final List<Instant> taints = new ArrayList<>();
    private Instant now = NodeScenario.START;
    private int events;

    @Property(tries = 200)
    void noBudgetIsExceeded(@ForAll long seed) {
        var random = new Random(seed);
        states.clear();
        usage.clear();
        taints.clear();
        for (int node = 0; node < NODES; node++) {
            step("node-" + node, announced());
        }
        for (int i = 0; i < 400; i++) {
            now = now.plusSeconds(random.nextInt(30));
            String node = "node-" + random.nextInt(NODES);
            step(node, signal(node, random));
        }
    }

    private void step(String node, HealthSignal signal) {
        NodeState before = states.getOrDefault(node, NodeState.unknown(node, now));
        PermittedActions allowance = usage.allowance(node, NodeBudgetShareCalculator.of(before), now);
        NodeState after = machine.decide(before, signal, now, allowance).state();
        states.put(node, after);
        usage.put(node, NodeBudgetShareCalculator.of(after));
        if (taintedByPolicy(after) && !before.tainted()) {
            usage.tainted(node, now);
            taints.add(now);
        }
        // What happens to a node whose Node object was deleted takes nothing out of service.
        if (after.node().goneSince() != null) {
            return;
        }
        if (taintedByPolicy(after) && !before.tainted()) {
            scopes(after).forEach((scope, limits) -> {
                long total = count(scope, state -> !state.node().absent());
                long out = count(scope, state -> !state.node().absent() && (state.tainted() || !usable(state.node())));
                assertThat(out)
                        .as("%s after %s", node, signal)
                        .isLessThanOrEqualTo(limits.nodes().of((int) total));
            });
            assertThat(taints.stream().filter(at -> at.isAfter(now.minus(Duration.ofMinutes(5)))))
                    .hasSizeLessThanOrEqualTo(2);
        }
        if (withdrawnByFault(after) > withdrawnByFault(before)) {
            scopes(after).forEach((scope, limits) -> {
                int total =
                        sum(scope, state -> NodeBudgetShareCalculator.of(state).devices());
                int out =
                        sum(scope, state -> NodeBudgetShareCalculator.of(state).devicesOut());
                assertThat(out)
                        .as("%s after %s", node, signal)
                        .isLessThanOrEqualTo(limits.devices().of(total));
            });
        }
    }

    private static boolean usable(NodeReference node) {
        return node.placement().usable()
                && !List.of("DaemonSilent", "DaemonDeparted")
                        .contains(node.presence().reason());
    }

    private static boolean taintedByPolicy(NodeState state) {
        return state.tainted() && state.quarantine() == null;
    }

    private static long withdrawnByFault(NodeState state) {
        return state.devices().values().stream()
                .filter(device -> device.health() instanceof DeviceHealth.Unhealthy)
                .filter(state::withdrawn)
                .count();
    }

    /** Every node without a Node object is outside all limits. */
    private static Map<Predicate<NodeState>, Limits> scopes(NodeState state) {
        Map<String, String> labels = state.node().placement().labels();
        Pool pool = PROTECTION.pool(labels);
        var scopes = new HashMap<Predicate<NodeState>, Limits>();
        scopes.put(other -> PROTECTION.pool(other.node().placement().labels()).equals(pool), pool.limits());
        scopes.put(_ -> true, PROTECTION.fleet());
        String zone = labels.get(DisruptionBudgets.ZONE);
        if (zone != null) {
            scopes.put(
                    other -> zone.equals(other.node().placement().labels().get(DisruptionBudgets.ZONE)),
                    PROTECTION.zone());
        }
        return scopes;
    }

    private long count(Predicate<NodeState> scope, Predicate<NodeState> wanted) {
        return states.values().stream().filter(scope).filter(wanted).count();
    }

    private int sum(Predicate<NodeState> scope, ToIntFunction<NodeState> value) {
        return states.values().stream().filter(scope).mapToInt(value).sum();
    }

    private HealthSignal announced() {
        return new HealthSignal.DevicesAnnounced(
                metadata(),
                new DaemonIncarnation("boot-1", 1_000, false),
                GPUS.stream()
                        .map(uuid -> new HealthSignal.AnnouncedDevice(uuid, NodeScenario.H100, false))
                        .toList(),
                NodeScenario.KNOWN);
    }

    private HealthSignal signal(String node, Random random) {
        String gpu = GPUS.get(random.nextInt(GPUS.size()));
        FaultCode code = FaultCode.xid(XIDS[random.nextInt(XIDS.length)]);
        var daemon = new DaemonIncarnation("boot-1", 1_000, false);
        return switch (random.nextInt(11)) {
            case 0, 1 -> new HealthSignal.FaultCleared(metadata(), daemon, gpu, code, "quiet");
            case 2 -> observed(random);
            case 3 ->
                random.nextInt(4) == 0 ? new HealthSignal.NodeObjectDeleted(metadata(), "uid-1") : observed(random);
            case 4 ->
                new HealthSignal.CommandIssued(
                        metadata(), random.nextInt(4) == 0 ? Command.QUARANTINE : Command.RELEASE, "", "ada", node);
            case 5 -> HealthSignal.TimePassed.at(now);
            case 6 -> new HealthSignal.DaemonSilence(metadata(), true);
            case 7 -> random.nextBoolean() ? announced() : new HealthSignal.DaemonDeparted(metadata(), daemon);
            default ->
                new HealthSignal.FaultObserved(
                        metadata(), daemon, NodeScenario.reported(gpu, code, RecoveryAction.NONE), "NVRM", List.of());
        };
    }

    private HealthSignal observed(Random random) {
        var labels = new HashMap<String, String>();
        if (random.nextBoolean()) {
            labels.put("pool", "training");
        }
        if (random.nextInt(3) > 0) {
            labels.put(DisruptionBudgets.ZONE, "zone-" + random.nextInt(2));
        }
        return new HealthSignal.NodeObjectObserved(
                metadata(), "uid-1", new NodeReference.Placement(labels, random.nextInt(10) > 0));
    }

    private EventMetadata metadata() {
        events++;
        return new EventMetadata("e/" + events, now, Duration.ZERO);
    }
}
