package io.gpufleet.runtime.leadership;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Right of a replica to act: acquired and revoked by the election's thread, used by the engine's thread. */
public final class Leadership {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    private boolean held;
    private boolean acting;

    /** Called when the election was won. */
    public void acquire() {
        lock.lock();
        try {
            held = true;
        } finally {
            lock.unlock();
        }
    }

    /** Called when the election was lost; returns only after the engine has stopped acting. */
    public void revoke() {
        lock.lock();
        try {
            held = false;
            while (acting) {
                idle.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Suspends leadership until it is acquired again; does not wait. */
    public void suspend() {
        lock.lock();
        try {
            held = false;
        } finally {
            lock.unlock();
        }
    }

    public boolean held() {
        lock.lock();
        try {
            return held;
        } finally {
            lock.unlock();
        }
    }

    /** Begins to act if leadership is held; returns whether it is. */
    public boolean beginActing() {
        lock.lock();
        try {
            acting = held;
            return acting;
        } finally {
            lock.unlock();
        }
    }

    /** Ends acting. */
    public void endActing() {
        lock.lock();
        try {
            acting = false;
            idle.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
