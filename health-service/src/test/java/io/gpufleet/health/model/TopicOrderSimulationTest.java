package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.AnnouncedDevice;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.HealthSignal.OpenFault;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.runtime.consistency.SimulationSeeds;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A fleet whose topics are read at different paces, by seed: events of one topic of a node stay in their order, those of
 * different topics come in any. Once a node's events are read, no broken GPU is in service; once the recovery dwell is over as
 * well, no sound one is out.
 */
class TopicOrderSimulationTest {
    private static final int SEEDS = 24;
    private static final int NODES = 60;
    private static final int GPUS = 4;
    private static final int STEPS = 3_000;
    private static final int MAX_LAG_MILLIS = 120_000;
    private static final Duration DWELL = Duration.ofMinutes(2);
    private static final List<FaultCode> FATAL = List.of(FaultCode.xid(48), FaultCode.xid(79));

    private final HealthMachine machine =
            new HealthMachine(TestPolicies.withRecoveryDwell(DWELL), Duration.ofMinutes(10));
    private final List<SimulatedNode> nodes = new ArrayList<>();
    private Instant now = NodeScenario.START;
    private int events;
    private int checkedIn;
    private int checkedOut;

    private enum Topic {
        INVENTORY,
        HEALTH
    }

    /** An event on its way, and when it is read; the reader tells whether its incarnation is another machine. */
    private record Pending(
            DaemonIncarnation incarnation, Function<DaemonIncarnation, HealthSignal> signal, Instant readAt) {}

    /** What is true of a node, what is on its way, and what the machine believes. */
    private static final class SimulatedNode {
        private final String name;
        /** Each GPU breaks once: what breaks again and again stays out until a person clears it. */
        private final TreeSet<String> neverBroken = new TreeSet<>();

        private final TreeSet<String> outlivedBoot = new TreeSet<>();
        private final TreeMap<String, FaultCode> broken = new TreeMap<>();
        private final Map<Topic, Deque<Pending>> topics = new EnumMap<>(Topic.class);
        private NodeState state;
        private int boot = 1;
        private long epoch;
        /** How far the clock of the node is ahead. */
        private Duration ahead = Duration.ZERO;

        private final Set<String> bootsRead = new HashSet<>();
        private final Map<Topic, DaemonIncarnation> lastByTopic = new EnumMap<>(Topic.class);
        private Instant lastRead = NodeScenario.START;

        SimulatedNode(int index) {
            name = "node-" + index;
            IntStream.range(0, GPUS).forEach(gpu -> neverBroken.add(name + "-gpu-" + gpu));
            state = NodeState.unknown(name, NodeScenario.START);
            restartDaemon(NodeScenario.START);
        }

        void jumpClock(Random random) {
            ahead = Duration.ofHours(random.nextInt(3) - 1);
        }

        /** A daemon numbers its incarnations by its clock, and never back as long as it knows the former one. */
        void restartDaemon(Instant now) {
            epoch = Math.max(epoch + 1, now.plus(ahead).toEpochMilli());
        }

        void wipeStateDirectory() {
            epoch = 0;
        }

        /** As the engine admits it: a lower epoch of a boot that it has not seen is another machine. */
        DaemonIncarnation admitted(Topic topic, DaemonIncarnation read) {
            DaemonIncarnation last = lastByTopic.put(topic, read);
            boolean known = !bootsRead.add(read.id());
            boolean back = last != null && !last.id().equals(read.id()) && read.epoch() <= last.epoch();
            return new DaemonIncarnation(read.id(), read.epoch(), back && !known);
        }

        List<String> gpus() {
            return IntStream.range(0, GPUS)
                    .mapToObj(gpu -> name + "-gpu-" + gpu)
                    .toList();
        }

        boolean isRead() {
            return topics.values().stream().allMatch(Deque::isEmpty);
        }
    }

    static LongStream seeds() {
        return SimulationSeeds.of(SEEDS);
    }

    @ParameterizedTest(name = "-Dgpufleet.simulation.seed={0}")
    @MethodSource("seeds")
    void orderBetweenTopicsChangesNothingThatLasts(long seed) {
        var random = new Random(seed);
        IntStream.range(0, NODES).mapToObj(SimulatedNode::new).forEach(nodes::add);
        nodes.forEach(node -> snapshot(node, random));

        for (int step = 0; step < STEPS; step++) {
            now = now.plusMillis(random.nextInt(2_000));
            trouble(nodes.get(random.nextInt(NODES)), random);
            nodes.forEach(node -> {
                read(node);
                passTime(node);
                check(node, seed);
            });
        }

        // Broken ones were seen out of service, and sound ones in it, or nothing was shown.
        assertThat(checkedOut).isPositive();
        assertThat(checkedIn).isPositive();
    }

    private void trouble(SimulatedNode node, Random random) {
        switch (random.nextInt(40)) {
            case 0, 1 -> fail(node, random);
            case 2, 3 -> repair(node, random);
            case 4 -> {
                node.jumpClock(random);
                node.restartDaemon(now);
                snapshot(node, random);
            }
            case 5 -> {
                node.jumpClock(random);
                node.boot++;
                if (random.nextBoolean()) {
                    node.wipeStateDirectory();
                }
                node.restartDaemon(now);
                // What outlives reboots again and again stays out until it is replaced.
                if (random.nextBoolean() || !Collections.disjoint(node.outlivedBoot, node.broken.keySet())) {
                    node.broken.clear();
                }
                node.outlivedBoot.addAll(node.broken.keySet());
                snapshot(node, random);
            }
            default -> {
                // Most of the time nothing happens, so that dwells end.
            }
        }
    }

    private void fail(SimulatedNode node, Random random) {
        String gpu = node.neverBroken.pollFirst();
        if (gpu != null) {
            FaultCode code = FATAL.get(random.nextInt(FATAL.size()));
            EventMetadata at = metadata();
            node.broken.put(gpu, code);
            send(
                    node,
                    Topic.HEALTH,
                    incarnation -> new HealthSignal.FaultObserved(
                            at, incarnation, NodeScenario.reported(gpu, code, RecoveryAction.NONE), "", List.of()),
                    random);
        }
    }

    private void repair(SimulatedNode node, Random random) {
        Map.Entry<String, FaultCode> repaired = node.broken.pollFirstEntry();
        if (repaired != null) {
            EventMetadata at = metadata();
            send(
                    node,
                    Topic.HEALTH,
                    incarnation -> new HealthSignal.FaultCleared(
                            at, incarnation, repaired.getKey(), repaired.getValue(), "ok"),
                    random);
        }
    }

    private void snapshot(SimulatedNode node, Random random) {
        EventMetadata announced = metadata();
        List<AnnouncedDevice> devices = node.gpus().stream()
                .map(gpu -> new AnnouncedDevice(gpu, new Device.Identity("H100", "", ""), false))
                .toList();
        EventMetadata listed = metadata();
        List<OpenFault> open = node.broken.entrySet().stream()
                .map(fault ->
                        new OpenFault(NodeScenario.reported(fault.getKey(), fault.getValue(), RecoveryAction.NONE), 1))
                .toList();
        send(
                node,
                Topic.INVENTORY,
                incarnation -> new HealthSignal.DevicesAnnounced(announced, incarnation, devices, NodeScenario.KNOWN),
                random);
        send(
                node,
                Topic.HEALTH,
                incarnation -> new HealthSignal.FaultsOpen(listed, incarnation, open, Map.of(), 0),
                random);
    }

    private static DaemonIncarnation incarnation(SimulatedNode node) {
        return new DaemonIncarnation("boot-" + node.boot, node.epoch, false);
    }

    private EventMetadata metadata() {
        events++;
        return new EventMetadata("e/" + events, now, Duration.ZERO);
    }

    private void send(
            SimulatedNode node, Topic topic, Function<DaemonIncarnation, HealthSignal> signal, Random random) {
        Deque<Pending> queue = node.topics.computeIfAbsent(topic, _ -> new ArrayDeque<>());
        Instant readAt = now.plusMillis(random.nextInt(MAX_LAG_MILLIS));
        Pending before = queue.peekLast();
        queue.addLast(new Pending(
                incarnation(node),
                signal,
                before != null && before.readAt().isAfter(readAt) ? before.readAt() : readAt));
    }

    private void read(SimulatedNode node) {
        node.topics.forEach((topic, queue) -> {
            while (!queue.isEmpty() && !queue.getFirst().readAt().isAfter(now)) {
                Pending next = queue.removeFirst();
                HealthSignal signal = next.signal().apply(node.admitted(topic, next.incarnation()));
                node.state = machine.decide(node.state, signal, now).state();
                node.lastRead = now;
            }
        });
    }

    private void passTime(SimulatedNode node) {
        if (!machine.changesAt(node.state).isAfter(now)) {
            node.state = machine.decide(node.state, HealthSignal.TimePassed.at(now), now)
                    .state();
        }
    }

    private void check(SimulatedNode node, long seed) {
        if (!node.isRead()) {
            return;
        }
        boolean dwellIsOver = now.isAfter(node.lastRead.plus(DWELL));
        for (String gpu : node.gpus()) {
            Device device = node.state.device(gpu).orElseThrow();
            boolean out = node.state.withdrawn(device);
            if (node.broken.containsKey(gpu)) {
                assertThat(out).as("seed %d: broken %s", seed, device).isTrue();
                checkedOut++;
            } else if (dwellIsOver) {
                assertThat(out).as("seed %d: sound %s", seed, device).isFalse();
                checkedIn++;
            }
        }
        if (dwellIsOver) {
            assertThat(node.state.tainted())
                    .as("seed %d: %s", seed, node.state)
                    .isEqualTo(node.broken.containsValue(FaultCode.xid(79)) || node.broken.size() == GPUS);
        }
    }
}
