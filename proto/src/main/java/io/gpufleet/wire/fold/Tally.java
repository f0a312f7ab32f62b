package io.gpufleet.wire.fold;

import java.util.concurrent.atomic.AtomicLong;

/** The counters while they count; written by the engine's thread, read by any. */
final class Tally {
    final AtomicLong folded = new AtomicLong();
    final AtomicLong duplicates = new AtomicLong();
    final AtomicLong missed = new AtomicLong();
    final AtomicLong poisoned = new AtomicLong();
    final AtomicLong commits = new AtomicLong();
    final AtomicLong lag = new AtomicLong();
    final AtomicLong newMachines = new AtomicLong();

    /** Takes over what a committed batch has counted. */
    void add(Tally batch) {
        folded.addAndGet(batch.folded.get());
        duplicates.addAndGet(batch.duplicates.get());
        missed.addAndGet(batch.missed.get());
        poisoned.addAndGet(batch.poisoned.get());
        newMachines.addAndGet(batch.newMachines.get());
    }

    FoldCounters read() {
        return new FoldCounters(
                folded.get(),
                duplicates.get(),
                missed.get(),
                poisoned.get(),
                commits.get(),
                lag.get(),
                newMachines.get());
    }
}
