package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.runtime.simulation.SimulatedBroker;
import io.gpufleet.runtime.simulation.SimulatedTime;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** A projection that waits until its inputs are read to their ends, and until what was read is committed. */
@NullMarked
class FirstTicksTest {
    private static final Duration STEP = Duration.ofMillis(5);

    private final SimulatedTime time = new SimulatedTime();
    private final Codec codec = new Codec("c1", new Topics("gpu."));
    private final SimulatedBroker broker = new SimulatedBroker(time, codec.topics());
    private final WaitingProjection projection = new WaitingProjection();
    private final Random random = new Random(1);
    private final SimulatedReplica<NodeHealthState> replica = SimulatedReplica.of(
            new SimulatedReplica.Shared<>(broker, codec, new CommittedFold<>(new CountingProjection(), codec), random),
            "health-service-0",
            time.clock(() -> Duration.ZERO),
            new Link(random),
            projection,
            Actor.none());
    private final Lockstep thread = new Lockstep("health-service-0", replica::run);

    private static final class WaitingProjection extends CountingProjection {
        private final List<Boolean> ticks = new ArrayList<>();

        @Override
        public Collection<String> due(States<NodeHealthState> states, Progress progress, Instant now) {
            ticks.add(progress.caughtUp(now));
            return List.of();
        }
    }

    @Test
    void ticksFollowTheAnswerThatEverythingIsReadAndDoNotWaitForTheirTime() {
        // Given a term whose next tick is 200 ms away
        replica.elect(true);
        run(Duration.ofMillis(500));
        int before = projection.ticks.size();
        while (projection.ticks.size() == before) {
            run(STEP);
        }
        run(Duration.ofMillis(50));
        projection.ticks.clear();

        // When
        replica.probed();
        run(Duration.ofMillis(50));

        // Then the first one finds that all is read, and the second one that this is committed
        assertThat(projection.ticks).containsExactly(true, true);
    }

    @Test
    void afterThemTheyComeInTheirTime() {
        // Given
        replica.elect(true);
        run(Duration.ofMillis(500));
        replica.probed();
        run(Duration.ofMillis(100));
        projection.ticks.clear();

        // When
        run(Duration.ofSeconds(1));

        // Then
        assertThat(projection.ticks).hasSizeBetween(3, 4);
    }

    private void run(Duration span) {
        for (Duration passed = Duration.ZERO; passed.compareTo(span) < 0; passed = passed.plus(STEP)) {
            time.advance(STEP);
            thread.step();
        }
    }
}
