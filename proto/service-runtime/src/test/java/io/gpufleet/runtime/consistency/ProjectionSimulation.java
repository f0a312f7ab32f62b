package io.gpufleet.runtime.consistency;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.engine.SimulatedReplica;
import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.runtime.simulation.PlantedDefect;
import io.gpufleet.runtime.simulation.SimulatedBroker;
import io.gpufleet.runtime.simulation.SimulatedTime;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * A fleet, two replicas of a service, and what befalls them, all determined by one seed. At every step at most one replica
 * may act, and what is on the log is the fold of the events, each once.
 */
public final class ProjectionSimulation<S> implements AutoCloseable {
    private static final int STEPS_PER_ROUND = 200;
    private static final int DRAIN_ROUNDS = 500;

    private final Pace pace;
    private final Random random;
    private final SimulatedTime time = new SimulatedTime();
    private final Supplier<? extends Projection<S>> projection;
    private final SimulatedReplica.Shared<S> shared;
    private final SimulatedService<S> service;
    private final List<Process> processes = new ArrayList<>();

    /**
     * How fast things happen.
     *
     * @param stepsPerTrouble a replica is cut, frozen, killed or elected once in so many steps
     * @param longestStep a step takes up to so long
     */
    public record Pace(int stepsPerTrouble, Duration longestStep) {}

    /** A fleet with two replicas of a service, the first of which leads. */
    public ProjectionSimulation(
            long seed,
            Pace pace,
            PlantedDefect defect,
            Supplier<? extends Projection<S>> projection,
            Function<SimulatedReplica.Shared<S>, SimulatedService<S>> service) {
        this.pace = pace;
        this.random = new Random(seed);
        this.projection = projection;
        var codec = new Codec(ConsistencyBus.CLUSTER, new Topics("gpu."));
        this.shared = new SimulatedReplica.Shared<>(
                new SimulatedBroker(time, codec.topics()),
                codec,
                new CommittedFold<>(projection.get(), codec),
                random,
                defect);
        this.service = service.apply(shared);
        String name = projection.get().spec().stateType().writer().service();
        processes.add(new Process(name + "-0"));
        processes.add(new Process(name + "-1"));
        processes.getFirst().replica.elect(true);
    }

    /** One process of a replica, from its start to its end. */
    private final class Process {
        private final String instance;
        private final Link toBroker = new Link(random);
        private final Link toApiServer = new Link(random);
        private final SimulatedActor<S> actor;
        private final SimulatedReplica<S> replica;
        private final Lockstep engineThread;
        private final Lockstep actorThread;
        private Duration clockOffset = Duration.ZERO;
        private long frozenUntil;

        Process(String instance) {
            this.instance = instance;
            var clock = new BrokerClock(time.clock(() -> clockOffset), time::nanos);
            this.actor = service.actor(instance, toApiServer, clock, this::mayAct);
            this.replica = SimulatedReplica.of(shared, instance, clock, toBroker, projection.get(), actor);
            this.engineThread = new Lockstep(instance, replica::run);
            this.actorThread = new Lockstep(instance + "-actor", actor::run);
        }

        /** It holds the lease, and nobody else does. */
        private boolean mayAct() {
            return replica.acting() && leaders() == 1;
        }

        void step() {
            if (time.nanos() >= frozenUntil) {
                (random.nextInt(3) == 0 ? actorThread : engineThread).step();
            }
        }

        void kill() {
            engineThread.kill();
            actorThread.kill();
            actor.disconnect();
        }
    }

    private long leaders() {
        return processes.stream().filter(process -> process.replica.acting()).count();
    }

    /** Runs for so many steps under trouble, then heals everything and runs until there is nothing left to do. */
    public void run(int steps) {
        for (int i = 0; i < steps; i++) {
            if (random.nextInt(4) == 0) {
                service.write();
            }
            if (random.nextInt(pace.stepsPerTrouble()) == 0) {
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
        service.check();
    }

    private void step() {
        time.advance(Duration.ofMillis(random.nextInt((int) pace.longestStep().toMillis())));
        processes.get(random.nextInt(processes.size())).step();
        assertThat(leaders()).as("replicas that may act").isLessThanOrEqualTo(1);
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
        return leader.replica.acting() && shared.fold().nothingLeft() && leader.actor.idle() && service.settled();
    }

    @Override
    public void close() {
        processes.forEach(Process::kill);
    }
}
