package io.gpufleet.runtime.simulation;

import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * A thread that runs only while {@link #step()} is called, up to its next {@link #pause()}: however many there are, one
 * runs at a time, and whoever calls decides on the order.
 */
public final class Lockstep {
    private static final ThreadLocal<Lockstep> CURRENT = new ThreadLocal<>();

    private final Semaphore running = new Semaphore(0);
    private final Semaphore paused = new Semaphore(0);
    private volatile boolean killed;
    private volatile boolean ended;
    private volatile @Nullable Throwable failure;

    /** Ends a thread as a process ends by SIGKILL: nothing that it does on the way out has an effect. */
    private static final class Killed extends Error {
        private static final long serialVersionUID = 1;
    }

    /** A thread that waits for its first step. */
    public Lockstep(String name, Runnable body) {
        Thread.ofVirtual().name(name).start(() -> run(body));
    }

    private void run(Runnable body) {
        running.acquireUninterruptibly();
        CURRENT.set(this);
        try {
            if (!killed) {
                body.run();
            }
        } catch (Killed expected) {
            // As asked for.
        } catch (RuntimeException | Error broken) {
            failure = broken;
        }
        ended = true;
        paused.release();
    }

    /** Runs to the next pause; fails with what ended the thread. */
    public void step() {
        if (ended) {
            return;
        }
        running.release();
        paused.acquireUninterruptibly();
        Throwable broken = failure;
        if (broken != null && !killed) {
            throw new AssertionError(String.valueOf(broken.getMessage()), broken);
        }
    }

    /** Ends the thread where it pauses. */
    public void kill() {
        killed = true;
        step();
    }

    /** Hands over to whoever called {@link #step()}; returns at the next step. */
    public static void pause() {
        Lockstep current = CURRENT.get();
        if (current == null) {
            return;
        }
        if (!current.killed) {
            current.paused.release();
            current.running.acquireUninterruptibly();
        }
        if (current.killed) {
            throw new Killed();
        }
    }

    /** True while the thread of the caller is being ended: what it does must have no effect. */
    public static boolean dying() {
        Lockstep current = CURRENT.get();
        return current != null && current.killed;
    }
}
