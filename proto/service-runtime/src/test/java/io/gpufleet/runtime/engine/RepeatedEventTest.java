package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
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
import java.util.Random;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** A daemon that got no answer sends an event again, and the service was restarted in between. */
@NullMarked
class RepeatedEventTest {
    private static final String NODE = "node-1";

    private final SimulatedTime time = new SimulatedTime();
    private final Codec codec = new Codec("c1", new Topics("gpu."));
    private final SimulatedBroker broker = new SimulatedBroker(time, codec.topics());
    private final Random random = new Random(1);
    private boolean publishes = true;
    private final CommittedFold<NodeHealthState> fold = new CommittedFold<>(new FirstOnly(), codec);

    /** The first event of a node changes its state; each event makes an output, if not told otherwise. */
    private final class FirstOnly extends CountingProjection {
        @Override
        public Effects<NodeHealthState> on(States<NodeHealthState> states, Inbound input, Instant now) {
            Effects<NodeHealthState> effects = super.on(states, input, now);
            if (states.get(input.key()).isEmpty()) {
                return effects;
            }
            return publishes ? Effects.publish(effects.outputs()) : Effects.none();
        }
    }

    @Test
    void eventThatOnlyMakesAnOutputIsKnownAfterARestart() {
        // Given
        append(1);
        runReplica();
        append(2);
        runReplica();

        // When
        append(2);
        runReplica();

        // Then: the fold fails on a second output of one event
        append(3);
        runReplica();
        assertThat(fold.nothingLeft()).isTrue();
    }

    @Test
    void eventThatChangesNothingIsNoGapAfterARestart() {
        // Given
        publishes = false;
        append(1);
        runReplica();
        append(2);
        runReplica();

        // When
        append(3);
        long missed = runReplica();

        // Then
        assertThat(missed).isZero();
    }

    private void append(long sequence) {
        fold.produced(NODE, new SimulatedFaults(broker, codec, time).append(NODE, sequence));
    }

    /** A process that leads until everything is read, and is killed; answers how many events it counts as lost. */
    private long runReplica() {
        SimulatedReplica<NodeHealthState> replica = SimulatedReplica.of(
                new SimulatedReplica.Shared<>(broker, codec, fold, random),
                "health-service-0",
                time.clock(() -> Duration.ZERO),
                new Link(random),
                new FirstOnly(),
                Actor.none());
        replica.elect(true);
        var thread = new Lockstep("health-service-0", replica::run);
        for (int step = 0; step < 200; step++) {
            time.advance(Duration.ofMillis(50));
            thread.step();
        }
        thread.kill();
        return replica.missed();
    }
}
