package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.kafka.HealthProjection;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.nodepatch.DesiredNode;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.runtime.engine.SimulatedReplica;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.runtime.simulation.SimulatedBroker;
import io.gpufleet.runtime.simulation.SimulatedTime;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullMarked;

/**
 * A fleet, two replicas of the health-service, and what befalls them, all determined by one seed. At every step at most
 * one replica may act, and what is on the log is the fold of the events, each once.
 */
@NullMarked
final class HealthSimulation implements AutoCloseable {
    private static final Duration DWELL = Duration.ofSeconds(20);
    private static final int STEPS_PER_TROUBLE = 60;
    private static final int STEPS_PER_ROUND = 200;
    private static final int DRAIN_ROUNDS = 500;

    private final Random random;
    private final List<String> nodes;
    private final SimulatedTime time = new SimulatedTime();
    private final Codec codec = new Codec("c1", new Topics("gpu."));
    private final SimulatedBroker broker = new SimulatedBroker(time, codec.topics());
    private final CommittedFold<NodeState> fold = new CommittedFold<>(projection(), codec);
    private final SimulatedWriters writers;
    private final SimulatedApiServer apiServer = new SimulatedApiServer();
    private final List<Process> processes = new ArrayList<>();

    HealthSimulation(long seed, int nodes) {
        this.random = new Random(seed);
        this.nodes = IntStream.range(0, nodes).mapToObj(i -> "node-" + i).toList();
        this.writers = new SimulatedWriters(broker, codec, fold, random);
        this.nodes.forEach(apiServer::create);
        this.nodes.forEach(writers::boot);
        processes.add(new Process("health-service-0"));
        processes.add(new Process("health-service-1"));
        processes.getFirst().replica.elect(true);
    }

    private static HealthProjection projection() {
        return new HealthProjection(new HealthMachine(TestPolicies.withRecoveryDwell(DWELL), Duration.ofMinutes(10)));
    }

    /** One process of a replica, from its start to its end. */
    private final class Process {
        private final String instance;
        private final Link toBroker = new Link(random);
        private final Link toApiServer = new Link(random);
        private final SimulatedApiServer.Client client = apiServer.client(toApiServer, this::mayAct);
        private final SimulatedReconciler reconciler;
        private final SimulatedReplica<NodeState> replica;
        private final Lockstep engineThread;
        private final Lockstep reconcilerThread;
        private Duration clockOffset = Duration.ZERO;
        private long frozenUntil;

        Process(String instance) {
            this.instance = instance;
            Clock clock = time.clock(() -> clockOffset);
            this.reconciler = new SimulatedReconciler(time, client, writers.signals(instance), clock);
            this.replica = SimulatedReplica.of(
                    new SimulatedReplica.Shared<>(broker, codec, fold, random),
                    instance,
                    clock,
                    toBroker,
                    projection(),
                    reconciler);
            this.engineThread = new Lockstep(instance, replica::run);
            this.reconcilerThread = new Lockstep(instance + "-reconciler", reconciler::run);
        }

        /** It holds the lease, and nobody else does. */
        private boolean mayAct() {
            return replica.acting() && leaders() == 1;
        }

        void step() {
            if (time.nanos() >= frozenUntil) {
                (random.nextInt(3) == 0 ? reconcilerThread : engineThread).step();
            }
        }

        void kill() {
            engineThread.kill();
            reconcilerThread.kill();
            apiServer.disconnect(client);
        }
    }

    private long leaders() {
        return processes.stream().filter(process -> process.replica.acting()).count();
    }

    /** Runs for so many steps under trouble, then heals everything and runs until there is nothing left to do. */
    void run(int steps) {
        for (int i = 0; i < steps; i++) {
            if (random.nextInt(4) == 0) {
                write();
            }
            if (random.nextInt(STEPS_PER_TROUBLE) == 0) {
                trouble();
            }
            step();
        }
        heal();
        for (int i = 0; !settled(); i++) {
            assertThat(i)
                    .as("rounds without trouble until there is nothing left to do")
                    .isLessThan(DRAIN_ROUNDS);
            IntStream.range(0, STEPS_PER_ROUND).forEach(_ -> step());
        }
        check();
    }

    private void step() {
        time.advance(Duration.ofMillis(random.nextInt(20)));
        processes.get(random.nextInt(processes.size())).step();
        assertThat(leaders()).as("replicas that may act").isLessThanOrEqualTo(1);
    }

    private void write() {
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

    private void trouble() {
        int index = random.nextInt(processes.size());
        Process process = processes.get(index);
        switch (random.nextInt(10)) {
            case 0, 1 -> {
                process.toBroker.cut(!process.toBroker.isCut());
                electOther(process);
            }
            case 2, 3 -> process.toApiServer.cut(!process.toApiServer.isCut());
            case 4 -> process.clockOffset = Duration.ofHours(random.nextInt(3) - 1);
            case 5 -> {
                process.frozenUntil =
                        time.nanos() + Duration.ofMillis(random.nextInt(15_000)).toNanos();
                electOther(process);
            }
            case 6 -> {
                process.kill();
                processes.set(index, new Process(process.instance));
            }
            default -> process.replica.elect(random.nextInt(3) > 0);
        }
    }

    /** As the group does, without asking the one that does not answer. */
    private void electOther(Process silent) {
        processes.stream().filter(process -> process != silent).forEach(process -> process.replica.elect(true));
    }

    private void heal() {
        for (Process process : processes) {
            process.toBroker.cut(false);
            process.toApiServer.cut(false);
            process.frozenUntil = 0;
            process.replica.elect(process == processes.getFirst());
        }
    }

    private boolean settled() {
        Process leader = processes.getFirst();
        leader.replica.elect(true);
        return leader.replica.acting() && fold.nothingLeft() && leader.reconciler.idle() && !wakes();
    }

    /** True while a node waits for the end of its recovery dwell. */
    private boolean wakes() {
        HealthProjection projection = projection();
        return nodes.stream()
                .flatMap(node -> fold.get(node).stream())
                .anyMatch(state -> projection.wakeAt(state).isBefore(java.time.Instant.MAX));
    }

    /** Every Node is as its verdict asks. */
    private void check() {
        for (String node : nodes) {
            DesiredNode desired = DesiredNode.of(Verdict.of(fold.get(node).orElseThrow()));
            assertThat(apiServer.taint(node))
                    .as("taint of %s", node)
                    .isEqualTo(desired.taint().isEmpty() ? null : desired.taint());
        }
    }

    @Override
    public void close() {
        processes.forEach(Process::kill);
    }
}
