package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.TermListener;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Elects the quota leader by a Lease at the API server, which admission needs anyway: pods are admitted while Kafka is
 * away. A Lease counts as held until its holder was seen not to renew it for its whole duration, by the own monotonic
 * clock, while the API server answered. The replica that Kafka made active takes a Lease that nobody ever held first, so
 * that usually one replica does both; one that was given up is taken by whoever sees it, since pods wait.
 */
public final class QuotaElection implements AutoCloseable {
    /** How long a renewal is valid. */
    static final Duration DURATION = Duration.ofSeconds(5);

    /** How long a replica that is not active leaves a Lease that nobody ever held to the one that is. */
    static final Duration PRECEDENCE = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(QuotaElection.class);
    /** A standby looks this often: after an orderly end nobody decides until it does. */
    private static final long ROUND_MILLIS = 250;

    private static final long RENEW_NANOS = Duration.ofSeconds(1).toNanos();

    /** After this time without an answer of the API server, its holder may have been unable to renew the Lease, too. */
    private static final long UNANSWERED = Duration.ofSeconds(2).toNanos();

    /** A replica: an identity that no other process has, and the address by which others reach it. */
    public record Candidate(String identity, String address) {}

    /**
     * Clocks of a machine.
     *
     * @param nanos a monotonic clock, which may stand still while the machine is suspended
     * @param wall goes on meanwhile
     */
    record Clocks(LongSupplier nanos, Clock wall) {}

    /** When a renewal began, by the monotonic clock and by the wall clock. */
    private record Renewal(long nanos, Instant time) {}

    private final LeaseStore store;
    private final Candidate me;
    private final BooleanSupplier preferred;
    private final ActiveLease lease;
    private final TermListener listener;
    private final LongSupplier nanos;
    private final Clock clock;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("quota-election").daemon().factory());
    private volatile LeaseStore.LeaseRecord seen = LeaseStore.LeaseRecord.NONE;
    private long seenAt;
    private long answeredAt;
    private boolean unanswered;
    private boolean leading;
    private volatile Renewal renewed = new Renewal(0, Instant.MIN);

    /**
     * An election that is not started.
     *
     * @param preferred whether Kafka made this replica the active one
     * @param lease is held while this replica is the leader and its renewal is valid
     * @param listener learns of each term
     */
    QuotaElection(
            LeaseStore store,
            Candidate me,
            BooleanSupplier preferred,
            ActiveLease lease,
            TermListener listener,
            Clocks clocks) {
        this.store = store;
        this.me = me;
        this.preferred = preferred;
        this.lease = lease;
        this.listener = listener;
        this.nanos = clocks.nanos();
        this.clock = clocks.wall();
        this.seenAt = nanos.getAsLong();
        this.answeredAt = seenAt;
    }

    /** Starts the thread, which takes part until it is closed. */
    public static QuotaElection start(
            LeaseStore store,
            Candidate me,
            BooleanSupplier preferred,
            ActiveLease lease,
            TermListener listener,
            Clock clock) {
        var election = new QuotaElection(store, me, preferred, lease, listener, new Clocks(System::nanoTime, clock));
        var _ = election.timer.scheduleWithFixedDelay(election::roundWhenDue, 0, ROUND_MILLIS, TimeUnit.MILLISECONDS);
        return election;
    }

    /** Address of the leader as read last; empty while nobody leads. */
    public String leaderAddress() {
        return seen.holder().isEmpty() ? "" : seen.address();
    }

    private synchronized void roundWhenDue() {
        if (!leading || nanos.getAsLong() - renewed.nanos() >= RENEW_NANOS) {
            round();
        }
    }

    /** Renews the Lease, by one write while nobody else wrote it; takes it where its holder's proof has run out. */
    synchronized void round() {
        var start = new Renewal(nanos.getAsLong(), clock.instant());
        try {
            if (!leading || !held() || !write(start, seen.version())) {
                read(start);
            }
        } catch (ApiServerException | RuntimeException failed) {
            unanswered = true;
            LOG.atWarn().addKeyValue("error", failed.getMessage()).log("quota lease cannot be renewed, retrying");
        }
    }

    private void read(Renewal start) throws ApiServerException {
        LeaseStore.LeaseRecord found = store.read().orElse(LeaseStore.LeaseRecord.NONE);
        // The holder may have renewed it at any time until the answer.
        long answered = nanos.getAsLong();
        if (!found.equals(seen) || (unanswered && start.nanos() - answeredAt > UNANSWERED)) {
            seen = found;
            seenAt = answered;
        }
        unanswered = false;
        answeredAt = answered;
        if (found.holder().equals(me.identity())) {
            write(start, found.version());
        } else {
            lose();
            if (mayTake(start.nanos())) {
                write(start, found.version());
            }
        }
    }

    private boolean mayTake(long now) {
        if (!seen.holder().isEmpty()) {
            return now - seenAt >= DURATION.toNanos();
        }
        boolean givenUp = !seen.version().isEmpty();
        return givenUp || preferred.getAsBoolean() || now - seenAt >= PRECEDENCE.toNanos();
    }

    /** False when somebody else wrote it since. */
    private boolean write(Renewal start, String version) throws ApiServerException {
        var written = store.write(new LeaseStore.LeaseRecord(me.identity(), me.address(), version));
        if (written.isEmpty()) {
            return false;
        }
        seen = written.get();
        seenAt = start.nanos();
        renewed = start;
        unanswered = false;
        answeredAt = nanos.getAsLong();
        if (!leading) {
            leading = true;
            lease.begin(this::held);
            LOG.atInfo().addKeyValue("holder", me.identity()).log("quota lease taken");
            listener.activated();
        }
        return true;
    }

    /**
     * A machine that was suspended, and a clock that is set forward, end the proof until the next renewal: somebody else may
     * have taken the Lease, and forgotten by now what this replica admitted.
     */
    private boolean held() {
        Renewal last = renewed;
        return nanos.getAsLong() - last.nanos() < DURATION.toNanos()
                && clock.instant().isBefore(last.time().plus(DURATION));
    }

    private void lose() {
        if (leading) {
            leading = false;
            lease.end();
            LOG.atInfo().addKeyValue("holder", seen.holder()).log("quota lease lost");
            listener.deactivated();
        }
    }

    /** Gives the Lease up, so that the next leader need not wait; call it when nothing is decided any more. */
    @Override
    public void close() {
        timer.shutdownNow();
        synchronized (this) {
            boolean release = leading && held();
            lose();
            if (release) {
                try {
                    store.write(new LeaseStore.LeaseRecord("", "", seen.version()));
                } catch (ApiServerException | RuntimeException failed) {
                    LOG.atWarn().addKeyValue("error", failed.getMessage()).log("quota lease not given up");
                }
            }
        }
    }
}
