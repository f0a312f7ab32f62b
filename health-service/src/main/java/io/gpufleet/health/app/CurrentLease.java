package io.gpufleet.health.app;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lease of the present term: none before it begins and after it ends. Asked immediately before each call. */
public final class CurrentLease {
    private static final Logger LOG = LoggerFactory.getLogger(CurrentLease.class);
    private static final Duration END_WAIT = Duration.ofSeconds(1);
    private static final BooleanSupplier NONE = () -> false;

    private final ReentrantReadWriteLock calls = new ReentrantReadWriteLock();
    private volatile BooleanSupplier lease = NONE;

    /** A term begins; {@code held} is false while calls must not be made. */
    public void begin(BooleanSupplier held) {
        lease = held;
    }

    /** The term is over: no call is begun from now on. Waits 1 s at most for calls in flight. */
    public void end() {
        lease = NONE;
        try {
            if (calls.writeLock().tryLock(END_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
                calls.writeLock().unlock();
            } else {
                LOG.atWarn().log("calls to the API server are still in flight");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Makes a call if the lease is held, and no call otherwise. */
    public <T> T call(Supplier<T> call, Supplier<T> otherwise) {
        calls.readLock().lock();
        try {
            return lease.getAsBoolean() ? call.get() : otherwise.get();
        } finally {
            calls.readLock().unlock();
        }
    }
}
