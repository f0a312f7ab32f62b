package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.TermListener;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Election of the quota leader by a Lease. */
class QuotaElectionTest {
    private final Store store = new Store();
    private final TestClock clock = new TestClock();
    private long now = 1;

    /** A wall clock that moves on its own. */
    private static final class TestClock extends Clock {
        private Instant time = Instant.parse("2026-11-20T12:00:00Z");

        @Override
        public Instant instant() {
            return time;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    /** A Lease in memory that rejects stale writes and can be made unavailable. */
    private final class Store implements LeaseStore {
        private LeaseRecord stored = LeaseRecord.NONE;
        private int version;
        private boolean unavailable;
        private Runnable beforeAnswer = () -> {};
        private Runnable whileCalled = () -> {};
        private Duration callTakes = Duration.ZERO;

        @Override
        public Optional<LeaseRecord> read() throws ApiServerException {
            call();
            Runnable meanwhile = beforeAnswer;
            beforeAnswer = () -> {};
            meanwhile.run();
            return stored.version().isEmpty() ? Optional.empty() : Optional.of(stored);
        }

        private void call() throws ApiServerException {
            if (unavailable) {
                throw new ApiServerException("the API server is unavailable");
            }
            advance(callTakes);
            whileCalled.run();
        }

        @Override
        public Optional<LeaseRecord> write(LeaseRecord lease) throws ApiServerException {
            call();
            if (!lease.version().equals(stored.version())) {
                return Optional.empty();
            }
            version++;
            stored = new LeaseRecord(lease.holder(), lease.address(), Integer.toString(version));
            return Optional.of(stored);
        }
    }

    private final class Replica implements TermListener {
        final ActiveLease lease = new ActiveLease();
        final QuotaElection election;
        boolean preferred;
        int terms;

        Replica(String name) {
            election = new QuotaElection(
                    store,
                    new QuotaElection.Candidate(name, name + ":9090"),
                    () -> preferred,
                    lease,
                    this,
                    new QuotaElection.Clocks(() -> now, clock));
        }

        @Override
        public void activated() {
            terms++;
        }

        @Override
        public void deactivated() {}
    }

    private void advance(Duration time) {
        now += time.toNanos();
        clock.time = clock.time.plus(time);
    }

    @Test
    void activeReplicaTakesAFreeLeaseAtOnceAndOthersLeaveItToThem() {
        var standby = new Replica("a");
        var active = new Replica("b");
        active.preferred = true;
        // When
        standby.election.round();
        active.election.round();
        standby.election.round();
        // Then
        assertThat(active.lease.held()).isTrue();
        assertThat(standby.lease.held()).isFalse();
        assertThat(standby.election.leaderAddress()).isEqualTo("b:9090");
    }

    @Test
    void replicaThatStartsWhileKafkaIsAwayLeadsOnceTheProofOfTheHolderHasRunOut() {
        var dead = new Replica("a");
        dead.preferred = true;
        dead.election.round();
        var started = new Replica("b");
        started.election.round();
        // When
        advance(QuotaElection.DURATION.minusMillis(1));
        started.election.round();
        assertThat(started.lease.held()).isFalse();
        advance(Duration.ofMillis(1));
        started.election.round();
        // Then
        assertThat(started.lease.held()).isTrue();
        assertThat(dead.lease.held()).isFalse();
    }

    @Test
    void holderThatTheApiServerDidNotAnswerEitherMayRenewFirst() {
        var holder = new Replica("a");
        holder.preferred = true;
        holder.election.round();
        var standby = new Replica("b");
        standby.election.round();
        store.unavailable = true;
        for (int i = 0; i < 10; i++) {
            advance(Duration.ofSeconds(1));
            standby.election.round();
            holder.election.round();
        }
        // When
        store.unavailable = false;
        standby.election.round();
        holder.election.round();
        // Then
        assertThat(standby.lease.held()).isFalse();
        assertThat(holder.lease.held()).isTrue();
        assertThat(holder.terms).isEqualTo(1);
        // And a holder that died meanwhile is replaced
        advance(QuotaElection.DURATION);
        standby.election.round();
        assertThat(standby.lease.held()).isFalse();
        advance(QuotaElection.DURATION);
        standby.election.round();
        assertThat(standby.lease.held()).isTrue();
    }

    @Test
    void renewalDuringASlowReadIsSeenWhenTheReadIsAnswered() {
        var holder = new Replica("a");
        holder.preferred = true;
        holder.election.round();
        var standby = new Replica("b");
        store.beforeAnswer = () -> {
            advance(Duration.ofSeconds(1));
            holder.election.round();
        };
        standby.election.round();
        // When
        advance(QuotaElection.DURATION.minusMillis(500));
        standby.election.round();
        // Then
        assertThat(holder.lease.held()).isTrue();
        assertThat(standby.lease.held()).isFalse();
    }

    @Test
    void slowApiServerCostsNoLeaderItsLease() {
        var holder = new Replica("a");
        holder.preferred = true;
        holder.election.round();
        for (int i = 0; i < 10; i++) {
            // When each call takes a second, and the next round begins half a second after the last
            store.callTakes = Duration.ofSeconds(1);
            advance(Duration.ofMillis(500));
            store.whileCalled = () -> assertThat(holder.lease.held()).isTrue();
            holder.election.round();
        }
        // Then
        assertThat(holder.terms).isEqualTo(1);
    }

    @Test
    void leaseThatWasGivenUpIsTakenAtOnceAlthoughKafkaStillPrefersWhoGaveItUp() {
        var first = new Replica("a");
        first.preferred = true;
        first.election.round();
        var next = new Replica("b");
        next.election.round();
        // When
        first.election.close();
        next.election.round();
        // Then
        assertThat(first.lease.held()).isFalse();
        assertThat(next.lease.held()).isTrue();
    }

    @Test
    void holderThatCannotRenewStopsAndGoesOnAfterwards() {
        var replica = new Replica("a");
        replica.preferred = true;
        replica.election.round();
        store.unavailable = true;
        advance(QuotaElection.DURATION);
        replica.election.round();
        assertThat(replica.lease.held()).isFalse();
        // When nobody took it
        store.unavailable = false;
        replica.election.round();
        // Then
        assertThat(replica.lease.held()).isTrue();
        assertThat(replica.terms).isEqualTo(1);
    }

    @Test
    void holderWhoseMachineWasSuspendedHoldsNothingBeforeItRenews() {
        var holder = new Replica("a");
        holder.preferred = true;
        holder.election.round();
        // When the monotonic clock stood still
        clock.time = clock.time.plus(QuotaElection.DURATION);
        // Then
        assertThat(holder.lease.held()).isFalse();
        // And it goes on where nobody took it
        holder.election.round();
        assertThat(holder.lease.held()).isTrue();
        assertThat(holder.terms).isEqualTo(1);
    }

    @Test
    void clockThatIsSetBackProlongsNoLeaseAndCostsNone() {
        var holder = new Replica("a");
        holder.preferred = true;
        holder.election.round();
        clock.time = clock.time.minus(Duration.ofDays(1));
        assertThat(holder.lease.held()).isTrue();
        // When
        now += QuotaElection.DURATION.toNanos();
        // Then
        assertThat(holder.lease.held()).isFalse();
    }

    @Property(tries = 300)
    void neverAreTwoReplicasLeaders(@ForAll long seed) {
        var random = new Random(seed);
        List<Replica> replicas = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            replicas.add(new Replica("r" + i));
        }
        for (int step = 0; step < 200; step++) {
            advance(Duration.ofMillis(random.nextInt(2_500)));
            Replica one = replicas.get(random.nextInt(3));
            switch (random.nextInt(7)) {
                case 0 -> one.preferred = random.nextBoolean();
                case 2 -> clock.time = clock.time.plusSeconds(random.nextInt(-20, 20));
                case 1 -> store.unavailable = random.nextInt(4) == 0;
                default -> one.election.round();
            }
            assertThat(replicas.stream().filter(replica -> replica.lease.held()))
                    .as("seed %d step %d", seed, step)
                    .hasSizeLessThanOrEqualTo(1);
        }
    }
}
