package io.gpufleet.wire.fold;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The right to act: given and taken away by the election's thread, used by the engine's. */
final class Mandate {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    private boolean held;
    private boolean acting;

    /** The election was won. */
    void grant() {
        lock.lock();
        try {
            held = true;
        } finally {
            lock.unlock();
        }
    }

    /** The election was lost; returns only when nothing acts any more. */
    void withdraw() {
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

    /** The right is doubted until it is granted anew; does not wait. */
    void doubt() {
        lock.lock();
        try {
            held = false;
        } finally {
            lock.unlock();
        }
    }

    boolean held() {
        lock.lock();
        try {
            return held;
        } finally {
            lock.unlock();
        }
    }

    /** Acting begins, if the right is held. */
    boolean begin() {
        lock.lock();
        try {
            acting = held;
            return acting;
        } finally {
            lock.unlock();
        }
    }

    /** Nothing acts any more. */
    void end() {
        lock.lock();
        try {
            acting = false;
            idle.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
