package io.gpufleet.wire.projection;

import java.util.concurrent.atomic.AtomicLong;

/** Mutable counters, written by the engine's thread and read by any thread. */
final class AtomicCounters {
    final AtomicLong folded = new AtomicLong();
    final AtomicLong duplicates = new AtomicLong();
    final AtomicLong missed = new AtomicLong();
    final AtomicLong poisoned = new AtomicLong();
    final AtomicLong commits = new AtomicLong();
    final AtomicLong lag = new AtomicLong();
    final AtomicLong newMachines = new AtomicLong();

    /** Adds the counters of a committed batch. */
    void add(AtomicCounters batch) {
        folded.addAndGet(batch.folded.get());
        duplicates.addAndGet(batch.duplicates.get());
        missed.addAndGet(batch.missed.get());
        poisoned.addAndGet(batch.poisoned.get());
        newMachines.addAndGet(batch.newMachines.get());
    }

    ProjectionCounters snapshot() {
        return new ProjectionCounters(
                folded.get(),
                duplicates.get(),
                missed.get(),
                poisoned.get(),
                commits.get(),
                lag.get(),
                newMachines.get());
    }
}
