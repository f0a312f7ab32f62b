package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.runtime.simulation.SimulatedBroker;
import io.gpufleet.runtime.simulation.SimulatedTime;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** When a new leader acts, and by which time. */
@NullMarked
class TakeOverTest {
    private static final String NODE = "node-1";
    private static final Duration STEP = Duration.ofMillis(5);

    private final SimulatedTime time = new SimulatedTime();
    private final Codec codec = new Codec("c1", new Topics("gpu."));
    private final SimulatedBroker broker = new SimulatedBroker(time, codec.topics());
    private final Random random = new Random(1);
    private final List<Lockstep> threads = new ArrayList<>();
    private Duration clockOffset = Duration.ZERO;

    /** Tells its history with every tick and changes no state. */
    private static final class PublishingProjection extends CountingProjection {
        @Override
        public Effects<NodeHealthState> tick(String key, States<NodeHealthState> states, Instant now) {
            return Effects.publish(List.of(Outbound.Event.of(
                    Topic.DECISIONS, EventType.DECISION_TAKEN, key, DecisionTaken.getDefaultInstance(), now)));
        }
    }

    /** Remembers how old an event was when it was folded. */
    private static final class AgeingProjection extends CountingProjection {
        private final List<Duration> ages = new ArrayList<>();

        @Override
        public Effects<NodeHealthState> on(States<NodeHealthState> states, Inbound input, Instant now) {
            if (input instanceof Inbound.Event event) {
                ages.add(event.age(now));
            }
            return super.on(states, input, now);
        }
    }

    @Test
    void standbyActsOnceTheLeaseOfItsDeadLeaderIsOverThatItSaw() {
        // Given
        var fold = new CommittedFold<>(new CountingProjection(), codec);
        SimulatedReplica<NodeHealthState> leader = replica("health-service-0", fold, new CountingProjection());
        SimulatedReplica<NodeHealthState> standby = replica("health-service-1", fold, new CountingProjection());
        leader.elect(true);
        run(leader::acting);
        run(Duration.ofSeconds(2));

        // When the leader dies, and its session ends
        threads.removeFirst().kill();
        run(Duration.ofSeconds(6));
        standby.elect(true);
        long elected = time.nanos();
        run(standby::acting);

        // Then
        assertThat(Duration.ofNanos(time.nanos() - elected)).isLessThan(Duration.ofSeconds(1));
    }

    @Test
    void restartedReplicaActsOnceTheLeaseIsOverThatItsFormerProcessCanHaveHad() {
        // Given
        var fold = new CommittedFold<>(new CountingProjection(), codec);
        SimulatedReplica<NodeHealthState> former = replica("health-service-0", fold, new CountingProjection());
        former.elect(true);
        run(former::acting);
        threads.removeFirst().kill();

        // When it is elected some time after it has opened its changelog
        SimulatedReplica<NodeHealthState> restarted = replica("health-service-0", fold, new CountingProjection());
        run(Duration.ofSeconds(2));
        restarted.elect(true);
        long elected = time.nanos();
        run(Duration.ofMillis(500));
        assertThat(restarted.acting()).isFalse();
        run(restarted::acting);

        // Then
        assertThat(Duration.ofNanos(time.nanos() - elected)).isLessThan(Duration.ofSeconds(2));
    }

    @Test
    void leaderThatCommitsNoStateIsNotTakenForOneWhoseLeaseIsOver() {
        // Given a leader whose every commit is history only
        var fold = new CommittedFold<>(new PublishingProjection(), codec);
        SimulatedReplica<NodeHealthState> leader = replica("health-service-0", fold, new PublishingProjection());
        SimulatedReplica<NodeHealthState> standby = replica("health-service-1", fold, new PublishingProjection());
        leader.elect(true);
        run(leader::acting);
        append(1, fold);
        run(Duration.ofSeconds(5));

        // When it stands still, and another is elected at once
        Lockstep frozen = threads.removeFirst();
        standby.elect(true);

        // Then
        while (!standby.acting()) {
            step();
            assertThat(leader.acting() && standby.acting()).isFalse();
        }
        frozen.kill();
    }

    @Test
    void replicaThatIsElectedAgainBeforeItActedWaitsForTheLeaseOfAFrozenLeader() {
        // Given a leader that stands still, and another one that is elected for a moment
        var fold = new CommittedFold<>(new CountingProjection(), codec);
        SimulatedReplica<NodeHealthState> leader = replica("health-service-0", fold, new CountingProjection());
        SimulatedReplica<NodeHealthState> standby = replica("health-service-1", fold, new CountingProjection());
        leader.elect(true);
        run(leader::acting);
        Lockstep frozen = threads.removeFirst();
        electForAMoment(standby);

        // When
        standby.elect(true);

        // Then
        actsOnlyAfter(leader, standby);
        frozen.kill();
    }

    @Test
    void successorOfOneThatResignedBeforeItActedWaitsForTheLeaseOfAFrozenLeader() {
        // Given a leader that stands still, and another one that is elected for a moment
        var fold = new CommittedFold<>(new CountingProjection(), codec);
        SimulatedReplica<NodeHealthState> leader = replica("health-service-0", fold, new CountingProjection());
        SimulatedReplica<NodeHealthState> second = replica("health-service-1", fold, new CountingProjection());
        SimulatedReplica<NodeHealthState> third = replica("health-service-2", fold, new CountingProjection());
        leader.elect(true);
        run(leader::acting);
        Lockstep frozen = threads.removeFirst();
        electForAMoment(second);

        // When
        third.elect(true);

        // Then
        actsOnlyAfter(leader, third);
        frozen.kill();
    }

    private void electForAMoment(SimulatedReplica<NodeHealthState> replica) {
        replica.elect(true);
        run(Duration.ofMillis(500));
        assertThat(replica.acting()).isFalse();
        replica.elect(false);
        run(Duration.ofMillis(100));
    }

    private void actsOnlyAfter(SimulatedReplica<NodeHealthState> older, SimulatedReplica<NodeHealthState> newer) {
        assertThat(older.acting()).isTrue();
        run(() -> {
            assertThat(older.acting() && newer.acting()).isFalse();
            return newer.acting();
        });
    }

    @Test
    void eventAfterAJumpOfOurClockIsAsOldAsItIs() {
        // Given
        var projection = new AgeingProjection();
        var fold = new CommittedFold<>(new CountingProjection(), codec);
        SimulatedReplica<NodeHealthState> leader = replica("health-service-0", fold, projection);
        leader.elect(true);
        run(leader::acting);

        for (Duration jump : List.of(Duration.ofHours(1), Duration.ofHours(-1), Duration.ZERO)) {
            projection.ages.clear();

            // When
            clockOffset = jump;
            append(1 + projection.applied.size(), fold);
            run(() -> !projection.ages.isEmpty());

            // Then
            assertThat(projection.ages)
                    .allSatisfy(age -> assertThat(age).isBetween(Duration.ZERO, Duration.ofSeconds(2)));
        }
        threads.removeFirst().kill();
    }

    private SimulatedReplica<NodeHealthState> replica(
            String instance, CommittedFold<NodeHealthState> fold, CountingProjection projection) {
        SimulatedReplica<NodeHealthState> replica = SimulatedReplica.of(
                new SimulatedReplica.Shared<>(broker, codec, fold, random),
                instance,
                time.clock(() -> clockOffset),
                new Link(random),
                projection,
                Actor.none());
        threads.add(new Lockstep(instance, replica::run));
        return replica;
    }

    private void step() {
        time.advance(STEP);
        threads.forEach(Lockstep::step);
    }

    private void run(Duration duration) {
        long end = time.nanos() + duration.toNanos();
        run(() -> time.nanos() >= end);
    }

    private void run(BooleanSupplier until) {
        for (int steps = 0; !until.getAsBoolean(); steps++) {
            assertThat(steps).isLessThan(100_000);
            step();
        }
    }

    private void append(long sequence, CommittedFold<NodeHealthState> fold) {
        fold.produced(NODE, new SimulatedFaults(broker, codec, time).append(NODE, sequence));
    }
}
