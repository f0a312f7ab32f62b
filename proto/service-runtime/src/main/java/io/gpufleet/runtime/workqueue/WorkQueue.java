package io.gpufleet.runtime.workqueue;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one step for each key that is added, at most a number of steps at once and one for each key. A key that is added
 * while its step runs has one more afterwards. Thread-safe; no step runs under the lock of the queue.
 */
public final class WorkQueue<K> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WorkQueue.class);

    /**
     * Settings of a queue.
     *
     * @param name of its steps, for the log
     * @param workers how many steps run at once
     * @param backoff wait after a failed step; one that throws waits for its limit
     */
    public record Settings(String name, int workers, Backoff backoff) {}

    private final Settings settings;
    private final WorkScheduler scheduler;
    private final Function<K, ReconcileResult> step;
    private final PendingKeys<K> pending;
    private final Lock lock = new ReentrantLock();
    /** The earliest time for which the queue asked to be woken. */
    private @Nullable Long wakeAt;

    private final Set<Thread> running = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped;

    /** A queue without keys. */
    public WorkQueue(Settings settings, WorkScheduler scheduler, Function<K, ReconcileResult> step) {
        this.settings = settings;
        this.scheduler = scheduler;
        this.step = step;
        this.pending = new PendingKeys<>(settings.workers(), settings.backoff(), scheduler::random);
    }

    /** A key has to be worked on. Returns at once. */
    public void add(K key) {
        update(keys -> keys.add(key));
    }

    private void update(Consumer<PendingKeys<K>> change) {
        List<K> begun;
        OptionalLong wake;
        long now;
        lock.lock();
        try {
            change.accept(pending);
            now = scheduler.nanos();
            begun = pending.begin(now);
            wake = nextWake();
        } finally {
            lock.unlock();
        }
        begun.forEach(key -> scheduler.start(() -> run(key)));
        wake.ifPresent(at -> scheduler.startAfter(Duration.ofNanos(at - now), () -> woken(at)));
    }

    /** When the queue has to be woken; empty where it asked for that, or for an earlier time. */
    private OptionalLong nextWake() {
        OptionalLong due = pending.nextDue();
        if (due.isEmpty() || wakeAt != null && wakeAt - due.getAsLong() <= 0) {
            return OptionalLong.empty();
        }
        wakeAt = due.getAsLong();
        return due;
    }

    private void woken(long at) {
        update(_ -> {
            // Another time is there where an earlier one was asked for meanwhile, which has asked for this one again.
            if (Long.valueOf(at).equals(wakeAt)) {
                wakeAt = null;
            }
        });
    }

    private void run(K key) {
        ReconcileResult result =
                new ReconcileResult.RetryAfter(settings.backoff().limit());
        running.add(Thread.currentThread());
        try {
            // After the thread is known to close(), which has asked for this, or interrupts the thread.
            result = stopped ? new ReconcileResult.Done() : step.apply(key);
        } catch (RuntimeException broken) {
            LOG.atError().setCause(broken).addKeyValue("node", key).log(settings.name() + " failed");
        } finally {
            running.remove(Thread.currentThread());
            end(key, result);
        }
    }

    private void end(K key, ReconcileResult result) {
        update(keys -> keys.end(key, result, scheduler.nanos()));
    }

    /** Starts no step from now on, for good; those that run go on. */
    public void stop() {
        stopped = true;
        update(PendingKeys::stop);
    }

    /** Starts no step from now on, for good, and interrupts those that run. */
    @Override
    public void close() {
        stop();
        running.forEach(Thread::interrupt);
    }
}
