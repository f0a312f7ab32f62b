package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.AnnouncedDevice;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.HealthSignal.DaemonKnowledge;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.HealthSignal.OpenFault;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.FleetUsage;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A thousand nodes under trouble, by seed: faults, daemons that restart, reboots, state directories that are lost with a boot
 * or within one, clocks that jump by an hour, GPUs that are swapped, events that come twice or late. After each step the
 * decisions are compared with what is true of the nodes.
 */
class FleetSimulationTest {
    private static final int NODES = 1_000;
    private static final int GPUS = 4;
    private static final int STEPS = 20_000;
    private static final int LARGEST_SHARE = 10;
    private static final FaultCode FATAL = FaultCode.xid(79);
    private static final FaultCode BENIGN = FaultCode.xid(13);
    private static final Limits TENTH = new Limits(Limit.percent(LARGEST_SHARE), Limit.percent(LARGEST_SHARE));
    private static final DisruptionBudgets PROTECTION = new DisruptionBudgets(
            List.of(), new Pool("default", Map.of(), Mode.ENFORCE, TENTH), Limits.NONE, TENTH, StormBrake.NONE);

    private final HealthMachine machine = new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10));
    private final FleetUsage usage = new FleetUsage(PROTECTION);
    private final List<SimulatedNode> nodes = new ArrayList<>();
    private Instant now = NodeScenario.START;
    private int events;
    private int forgotten;

    /** What is true of a node, and what the machine believes of it. */
    private static final class SimulatedNode {
        private final String name;
        private final Set<String> broken = new HashSet<>();
        /** Those that its daemon knows of. */
        private final Set<String> known = new HashSet<>();
        /** Those whose fault was reported in time, or listed: they are out of service, or held back. */
        private final Set<String> reported = new HashSet<>();

        private final List<String> gpus;
        private NodeState state;
        private long epoch;
        /** How far the clock of the node is ahead. */
        private Duration ahead = Duration.ZERO;

        private int boot = 1;
        private boolean newMachine;
        private Instant knownSince = NodeScenario.START;
        private long knownSinceEpoch;

        SimulatedNode(int index) {
            this.name = "node-" + index;
            this.gpus = new ArrayList<>(IntStream.range(0, GPUS)
                    .mapToObj(gpu -> name + "-gpu-" + gpu)
                    .toList());
            this.state = NodeState.unknown(name, NodeScenario.START);
            restartDaemon(NodeScenario.START);
        }

        /** A daemon numbers its incarnations by its clock, and never back as long as it knows the former one. */
        void restartDaemon(Instant now) {
            epoch = Math.max(epoch + 1, now.plus(ahead).toEpochMilli());
            newMachine = false;
        }

        void boot(Instant now) {
            boot++;
            restartDaemon(now);
            known.addAll(broken);
        }

        /** A fault of a GPU is an event: a daemon that lost what it knew does not see it again in this boot. */
        void loseStateDirectory(Instant now) {
            restartDaemon(now);
            known.clear();
            knownSince = now.plus(ahead);
            knownSinceEpoch = epoch;
        }

        /** As the engine admits it: a lower epoch of a boot that it has not seen is another machine. */
        void bootWithoutStateDirectory(Instant now) {
            boot++;
            long former = epoch;
            epoch = now.plus(ahead).toEpochMilli();
            newMachine = epoch <= former;
            knownSince = now.plus(ahead);
            knownSinceEpoch = epoch;
            known.addAll(broken);
        }

        DaemonIncarnation incarnation() {
            return new DaemonIncarnation("boot-" + boot, epoch, newMachine);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void fleetIsTreatedAsItIs(long seed) {
        var random = new Random(seed);
        IntStream.range(0, NODES).mapToObj(SimulatedNode::new).forEach(nodes::add);
        nodes.forEach(node -> {
            step(
                    node,
                    new HealthSignal.NodeObjectObserved(
                            metadata(Duration.ZERO), "uid", new NodeReference.Placement(Map.of(), true)));
            step(node, announced(node));
        });
        for (int i = 0; i < STEPS; i++) {
            now = now.plusMillis(random.nextInt(500));
            trouble(nodes.get(random.nextInt(NODES)), random);
        }
        settle();
        nodes.forEach(node -> isTreatedAsItIs(node, node.broken));
        // Both sides of the budget were met, or nothing was shown.
        assertThat(nodes).anyMatch(node -> node.state.tainted());
        assertThat(nodes).anyMatch(node -> !node.state.heldBack().isEmpty());
        assertThat(forgotten).as("faults that daemons forgot").isPositive();
    }

    private void trouble(SimulatedNode node, Random random) {
        String gpu = node.gpus.get(random.nextInt(GPUS));
        switch (random.nextInt(13)) {
            case 0 -> {
                node.broken.add(gpu);
                node.known.add(gpu);
                node.reported.add(gpu);
                step(node, observed(node, gpu, FATAL, Duration.ZERO));
            }
            // Events of a cut connection come late: too old to act upon until they are listed.
            case 1 -> {
                node.broken.add(gpu);
                node.known.add(gpu);
                step(node, observed(node, gpu, FATAL, Duration.ofMinutes(30)));
            }
            // Only a daemon that knows of a fault can prove its end.
            case 2 -> {
                if (node.known.remove(gpu) && node.broken.remove(gpu)) {
                    node.reported.remove(gpu);
                    step(
                            node,
                            new HealthSignal.FaultCleared(
                                    metadata(Duration.ZERO), node.incarnation(), gpu, FATAL, "ok"));
                }
            }
            // The clock of the node jumps by an hour, ahead or back; its daemon's next incarnation follows it ahead.
            case 3 -> {
                node.ahead = Duration.ofHours(random.nextInt(3) - 1);
                node.restartDaemon(now);
                step(node, announced(node));
            }
            case 4 -> {
                node.boot(now);
                step(node, announced(node));
                list(node);
            }
            // The state directory is wiped: the daemon does not know any more which GPUs it had, nor its own number.
            case 5 -> {
                node.bootWithoutStateDirectory(now);
                step(node, announced(node));
                list(node);
            }
            case 6 -> swap(node, nodes.get(random.nextInt(NODES)), random);
            case 7 -> step(node, HealthSignal.TimePassed.at(now));
            // The state directory is wiped within a boot, after the daemon listed its faults as it does every minute.
            case 8 -> {
                list(node);
                node.loseStateDirectory(now);
                forgotten += node.broken.size();
                step(node, announced(node));
                list(node);
            }
            default -> step(node, observed(node, gpu, BENIGN, Duration.ZERO));
        }
        isTreatedAsItIs(node, node.reported);
    }

    /** Two nodes exchange a sound GPU; each boots. */
    private void swap(SimulatedNode one, SimulatedNode other, Random random) {
        int slot = random.nextInt(GPUS);
        String first = one.gpus.get(slot);
        String second = other.gpus.get(slot);
        if (one == other || one.broken.contains(first) || other.broken.contains(second)) {
            return;
        }
        one.gpus.set(slot, second);
        other.gpus.set(slot, first);
        for (SimulatedNode node : List.of(one, other)) {
            node.boot(now);
            step(node, announced(node));
            list(node);
        }
        isTreatedAsItIs(other, other.reported);
    }

    /** Every node is heard once more; what waited for room gets it, or not. */
    private void settle() {
        for (int round = 0; round < 2; round++) {
            now = now.plus(Duration.ofMinutes(1));
            nodes.forEach(this::list);
        }
    }

    private void step(SimulatedNode node, HealthSignal signal) {
        NodeState before = node.state;
        PermittedActions allowance = usage.allowance(node.name, NodeBudgetShareCalculator.of(before), now);
        DecisionResult result = machine.decide(before, signal, now, allowance);
        NodeState replayed = before;
        for (NodeStateChange event : result.events()) {
            replayed = StateReducer.apply(replayed, event);
        }
        assertThat(replayed).as("a restart, after %s", signal).isEqualTo(result.state());
        node.state = result.state();
        usage.put(node.name, NodeBudgetShareCalculator.of(node.state));
        if (node.state.tainted() && !before.tainted()) {
            usage.tainted(node.name, now);
            long out = nodes.stream().filter(each -> each.state.tainted()).count();
            assertThat(out).as("nodes tainted after %s", signal).isLessThanOrEqualTo(NODES * LARGEST_SHARE / 100);
        }
        if (withdrawn(node.state) > withdrawn(before)) {
            assertThat(nodes.stream().mapToLong(each -> withdrawn(each.state)).sum())
                    .as("devices withdrawn after %s", signal)
                    .isLessThanOrEqualTo(NODES * GPUS * LARGEST_SHARE / 100);
        }
        repeatedSignalAsksForNothing(node, signal);
    }

    private static long withdrawn(NodeState state) {
        return state.devices().values().stream()
                .filter(device -> device.listed() && state.withdrawn(device))
                .count();
    }

    /** At least once is how events come. */
    private void repeatedSignalAsksForNothing(SimulatedNode node, HealthSignal signal) {
        if (signal instanceof HealthSignal.FaultsOpen) {
            DecisionResult again = machine.decide(
                    node.state, signal, now, usage.allowance(node.name, NodeBudgetShareCalculator.of(node.state), now));
            assertThat(again.decisions().stream()
                            .filter(decision -> decision.outcome().status() == Decision.Status.ACTED))
                    .as("decisions of %s, repeated", signal)
                    .isEmpty();
        }
    }

    private void list(SimulatedNode node) {
        step(node, open(node));
        node.reported.addAll(node.known);
    }

    private static void isTreatedAsItIs(SimulatedNode node, Set<String> reported) {
        for (String gpu : node.gpus) {
            Device device = node.state.device(gpu).orElseThrow();
            if (reported.contains(gpu) && !node.state.heldBack().containsKey(gpu)) {
                assertThat(node.state.withdrawn(device)).as("fatal %s", device).isTrue();
            }
            if (!node.broken.contains(gpu)) {
                assertThat(node.state.withdrawn(device))
                        .as("healthy %s", device)
                        .isFalse();
            }
        }
        if (!reported.isEmpty() && !node.state.heldBack().containsKey("")) {
            assertThat(node.state.tainted()).as("fatal %s", node.state).isTrue();
        }
        if (node.broken.isEmpty()) {
            assertThat(node.state.tainted()).as("healthy %s", node.state).isFalse();
        }
    }

    private HealthSignal announced(SimulatedNode node) {
        return new HealthSignal.DevicesAnnounced(
                metadata(Duration.ZERO),
                node.incarnation(),
                IntStream.range(0, GPUS)
                        .mapToObj(slot -> new AnnouncedDevice(
                                node.gpus.get(slot), new Device.Identity("H100", "", "0000:0" + slot), false))
                        .toList(),
                new DaemonKnowledge(node.knownSince, true));
    }

    private HealthSignal observed(SimulatedNode node, String gpu, FaultCode code, Duration age) {
        return new HealthSignal.FaultObserved(
                metadata(age),
                node.incarnation(),
                NodeScenario.reported(gpu, code, RecoveryAction.NONE),
                "",
                List.of());
    }

    private HealthSignal open(SimulatedNode node) {
        return new HealthSignal.FaultsOpen(
                metadata(Duration.ZERO),
                node.incarnation(),
                node.known.stream()
                        .sorted()
                        .map(gpu -> new OpenFault(NodeScenario.reported(gpu, FATAL, RecoveryAction.NONE), 1))
                        .toList(),
                Map.of(),
                node.knownSinceEpoch);
    }

    private EventMetadata metadata(Duration age) {
        events++;
        return new EventMetadata("e/" + events, now, age);
    }
}
