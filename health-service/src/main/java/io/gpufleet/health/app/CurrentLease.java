package io.gpufleet.health.app;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lease of the present term: none before it begins and after it ends. Asked immediately before each call. A call that
 * hangs is given up with the term, and its thread with it.
 */
public final class CurrentLease {
    private static final Logger LOG = LoggerFactory.getLogger(CurrentLease.class);
    /** For calls that are answered as usual: what they did is known then. A term ends within a second, whatever hangs. */
    static final Duration END_WAIT = Duration.ofMillis(500);

    private static final BooleanSupplier NONE = () -> false;

    /** Waits for a lock. */
    @FunctionalInterface
    interface LockWait {
        /** The lock, once it is free; not any more after the limit. */
        boolean acquired(Lock lock, Duration atMost) throws InterruptedException;
    }

    /** A call in flight, until it is answered or given up. */
    private static final class Call {
        private final Thread thread = Thread.currentThread();
        private boolean answered;
        private boolean givenUp;

        synchronized boolean giveUp() {
            if (!answered) {
                givenUp = true;
                thread.interrupt();
            }
            return givenUp;
        }

        /** Ends it; true when it was given up. The interruption was meant for this call alone. */
        synchronized boolean end() {
            answered = true;
            if (givenUp) {
                var _ = Thread.interrupted();
            }
            return givenUp;
        }
    }

    private final LockWait wait;
    private final ReentrantReadWriteLock calls = new ReentrantReadWriteLock();
    private final Set<Call> inFlight = ConcurrentHashMap.newKeySet();
    private volatile BooleanSupplier lease = NONE;

    /** No term has begun. */
    public CurrentLease() {
        this((lock, atMost) -> lock.tryLock(atMost.toMillis(), TimeUnit.MILLISECONDS));
    }

    /** No term has begun; the end of one waits so for calls in flight. */
    CurrentLease(LockWait wait) {
        this.wait = wait;
    }

    /** A term begins; {@code held} is false while calls must not be made. */
    public void begin(BooleanSupplier held) {
        lease = held;
    }

    /** The term is over: no call is begun from now on. Waits 500 ms at most for calls in flight, and gives the others up. */
    public void end() {
        lease = NONE;
        try {
            if (wait.acquired(calls.writeLock(), END_WAIT)) {
                calls.writeLock().unlock();
            } else {
                LOG.atWarn()
                        .addKeyValue(
                                "calls", inFlight.stream().filter(Call::giveUp).count())
                        .log("calls to the API server had no answer at the end of the term and were given up");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Makes a call if the lease is held, and no call otherwise; neither has a call that was given up another answer. */
    public <T> T call(Supplier<T> call, Supplier<T> otherwise) {
        calls.readLock().lock();
        try {
            return lease.getAsBoolean() ? answer(call, otherwise) : otherwise.get();
        } finally {
            calls.readLock().unlock();
        }
    }

    private <T> T answer(Supplier<T> call, Supplier<T> otherwise) {
        var running = new Call();
        inFlight.add(running);
        try {
            T answer = call.get();
            return running.end() ? otherwise.get() : answer;
        } catch (RuntimeException failed) {
            if (running.end()) {
                return otherwise.get();
            }
            throw failed;
        } finally {
            inFlight.remove(running);
        }
    }
}
