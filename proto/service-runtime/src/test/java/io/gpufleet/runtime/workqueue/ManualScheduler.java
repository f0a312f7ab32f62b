package io.gpufleet.runtime.workqueue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.PriorityQueue;
import java.util.Queue;
import org.jspecify.annotations.NullMarked;

/** Time and threads of a queue that a test determines; for one thread. */
@NullMarked
public final class ManualScheduler implements WorkScheduler {
    private final boolean atOnce;
    private final Queue<Runnable> started = new ArrayDeque<>();
    private final Queue<Delayed> delayed = new PriorityQueue<>((one, other) -> Long.signum(one.at() - other.at()));
    private long now = Long.MAX_VALUE - Duration.ofSeconds(10).toNanos();

    private record Delayed(long at, Runnable work) {}

    private ManualScheduler(boolean atOnce) {
        this.atOnce = atOnce;
    }

    /** Work is run at once, by the caller. */
    public static ManualScheduler atOnce() {
        return new ManualScheduler(true);
    }

    /** Work waits for {@link #work}. */
    public static ManualScheduler onRequest() {
        return new ManualScheduler(false);
    }

    @Override
    public long nanos() {
        return now;
    }

    @Override
    public void start(Runnable work) {
        if (atOnce) {
            work.run();
        } else {
            started.add(work);
        }
    }

    @Override
    public void startAfter(Duration delay, Runnable work) {
        delayed.add(new Delayed(now + delay.toNanos(), work));
    }

    /** The longest wait. */
    @Override
    public double random() {
        return 1;
    }

    /** Runs what was started, and what that starts. */
    public void work() {
        for (Runnable work = started.poll(); work != null; work = started.poll()) {
            work.run();
        }
    }

    /** Lets time pass, and starts what is due at the end of it. */
    public void advance(Duration time) {
        now += time.toNanos();
        while (!delayed.isEmpty() && delayed.peek().at() - now <= 0) {
            start(delayed.remove().work());
        }
    }

    /** Number of works that were started, or are due later. */
    public int waiting() {
        return started.size() + delayed.size();
    }
}
