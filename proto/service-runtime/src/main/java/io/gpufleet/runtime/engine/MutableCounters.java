package io.gpufleet.runtime.engine;

import java.util.concurrent.atomic.AtomicLong;

/** The counters while they count; written by the engine's thread, read by any. */
final class MutableCounters {
    final AtomicLong applied = new AtomicLong();
    final AtomicLong duplicates = new AtomicLong();
    final AtomicLong missed = new AtomicLong();
    final AtomicLong missedFromServices = new AtomicLong();
    final AtomicLong unknownTypes = new AtomicLong();
    final AtomicLong deadLetters = new AtomicLong();
    final AtomicLong replayed = new AtomicLong();
    final AtomicLong newMachines = new AtomicLong();
    final AtomicLong commits = new AtomicLong();
    final AtomicLong terms = new AtomicLong();
    final AtomicLong termsFailed = new AtomicLong();
    final AtomicLong resignations = new AtomicLong();
    final AtomicLong failedTicks = new AtomicLong();
    final AtomicLong skippedOffsets = new AtomicLong();
    final AtomicLong lag = new AtomicLong(ProjectionCounters.UNKNOWN);
    final AtomicLong restoreMillis = new AtomicLong(ProjectionCounters.UNKNOWN);

    /** Takes over what a committed batch has counted. */
    void add(MutableCounters batch) {
        applied.addAndGet(batch.applied.get());
        duplicates.addAndGet(batch.duplicates.get());
        missed.addAndGet(batch.missed.get());
        missedFromServices.addAndGet(batch.missedFromServices.get());
        unknownTypes.addAndGet(batch.unknownTypes.get());
        deadLetters.addAndGet(batch.deadLetters.get());
        replayed.addAndGet(batch.replayed.get());
        newMachines.addAndGet(batch.newMachines.get());
        failedTicks.addAndGet(batch.failedTicks.get());
    }
}
