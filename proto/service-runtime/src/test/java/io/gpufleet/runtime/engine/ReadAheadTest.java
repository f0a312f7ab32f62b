package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.runtime.simulation.SimulatedBroker;
import io.gpufleet.runtime.simulation.SimulatedTime;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.Random;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A backlog, whose next batch is read while the last is committed. The fold fails on a lost or a repeated event. */
@NullMarked
class ReadAheadTest {
    private static final int NODES = 60;
    private static final int EVENTS_PER_NODE = 50;

    private final SimulatedTime time = new SimulatedTime();
    private final Codec codec = new Codec("c1", new Topics("gpu."));
    private final SimulatedBroker broker = new SimulatedBroker(time, codec.topics());
    private final CommittedFold<NodeHealthState> fold = new CommittedFold<>(new CountingProjection(), codec);

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void everyEventCountsOnceWhereverAReplicaIsKilled(int seed) {
        // Given
        var random = new Random(seed);
        appendBacklog();

        // When
        for (int replica = 0; replica < 5; replica++) {
            run(random, 20 + random.nextInt(40));
        }
        run(random, 2_000);

        // Then
        assertThat(fold.nothingLeft()).isTrue();
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(ints = {1, 2, 3, 4})
    void everyEventCountsOnceWhereverACommitFails(int seed) {
        // Given
        var random = new Random(seed);
        appendBacklog();

        // When the broker is not reached for longer than a commit waits for it, three times
        var link = new Link(random);
        var thread = start(random, link);
        for (int cut = 0; cut < 3; cut++) {
            step(thread, 20 + random.nextInt(20));
            link.cut(true);
            step(thread, 300);
            link.cut(false);
        }
        step(thread, 2_000);
        thread.kill();

        // Then
        assertThat(fold.nothingLeft()).isTrue();
    }

    private void appendBacklog() {
        for (int sequence = 1; sequence <= EVENTS_PER_NODE; sequence++) {
            for (int node = 0; node < NODES; node++) {
                append("node-" + node, sequence);
            }
        }
    }

    private void append(String node, long sequence) {
        fold.produced(node, new SimulatedFaults(broker, codec, time).append(node, sequence));
    }

    /** A process that leads for so many steps, and is killed. */
    private void run(Random random, int steps) {
        var thread = start(random, new Link(random));
        step(thread, steps);
        thread.kill();
    }

    private Lockstep start(Random random, Link link) {
        SimulatedReplica<NodeHealthState> replica = SimulatedReplica.of(
                new SimulatedReplica.Shared<>(broker, codec, fold, random),
                "health-service-0",
                time.clock(() -> Duration.ZERO),
                link,
                new CountingProjection(),
                Actor.none());
        replica.elect(true);
        return new Lockstep("health-service-0", replica::run);
    }

    private void step(Lockstep thread, int steps) {
        for (int step = 0; step < steps; step++) {
            time.advance(Duration.ofMillis(50));
            thread.step();
        }
    }
}
