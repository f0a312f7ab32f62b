package io.gpufleet.wire;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices by the monotonic clock that the clock of this machine was set back, and aborts every Kafka client then. These count
 * time-outs and back-offs by that clock: what was begun before would last until the clock is where it was.
 */
final class ClockSetBacks {
    private static final Logger LOG = LoggerFactory.getLogger(ClockSetBacks.class);
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    /** Time for which a client may wait longer than it was told. */
    private static final long TOLERATED_MILLIS = 2_000;
    /** Further apart, the readings of both clocks are not of the same moment: the process stood still in between. */
    private static final long MOMENT_NANOS = Duration.ofMillis(100).toNanos();

    private final InstantSource clock;
    private final LongSupplier nanos;
    private final Executor threads;
    private final List<Watched<?>> clients = new ArrayList<>();
    private final CountDownLatch never = new CountDownLatch(1);
    private boolean watching;
    private Reading last;
    private final AtomicLong count = new AtomicLong();

    private record Reading(long millis, long nanos) {}

    /** One that is referred to by nobody else any more needs no end. */
    private record Watched<C>(WeakReference<C> client, Consumer<? super C> abort) {
        boolean gone() {
            return client.get() == null;
        }

        void end() {
            C found = client.get();
            if (found != null) {
                abort.accept(found);
            }
        }
    }

    /** Of this machine, on threads of its own. */
    ClockSetBacks() {
        this(
                InstantSource.system(),
                System::nanoTime,
                task -> Thread.ofPlatform().daemon().name("kafka-clock").start(task));
    }

    /**
     * Counts from now on.
     *
     * @param threads starts a thread
     */
    ClockSetBacks(InstantSource clock, LongSupplier nanos, Executor threads) {
        this.clock = clock;
        this.nanos = nanos;
        this.threads = threads;
        this.last = new Reading(clock.millis(), nanos.getAsLong());
    }

    /** Aborts this client when the clock is set back; it may be closed before. Answers the client. */
    synchronized <C> C watch(C client, Consumer<? super C> abort) {
        clients.removeIf(Watched::gone);
        clients.add(new Watched<>(new WeakReference<>(client), abort));
        if (!watching) {
            watching = true;
            last = new Reading(clock.millis(), nanos.getAsLong());
            threads.execute(this::run);
        }
        return client;
    }

    /** How often the clock was set back; counted before the first client is aborted. */
    long count() {
        return count.get();
    }

    private void run() {
        try {
            while (watching() && !never.await(INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
                check();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean watching() {
        clients.removeIf(Watched::gone);
        watching = !clients.isEmpty();
        return watching;
    }

    /** Compares both clocks with what they were. */
    synchronized void check() {
        long before = nanos.getAsLong();
        long millis = clock.millis();
        long after = nanos.getAsLong();
        if (after - before > MOMENT_NANOS) {
            return;
        }
        long setBack = TimeUnit.NANOSECONDS.toMillis(after - last.nanos()) - (millis - last.millis());
        last = new Reading(millis, after);
        if (setBack > TOLERATED_MILLIS) {
            abort(setBack);
        }
    }

    private void abort(long setBack) {
        count.incrementAndGet();
        LOG.atWarn()
                .addKeyValue("seconds", TimeUnit.MILLISECONDS.toSeconds(setBack))
                .log("the clock was set back, Kafka clients are replaced");
        for (Watched<?> client : clients) {
            // Each by itself: to close a producer waits for its thread.
            threads.execute(client::end);
        }
    }
}
