package io.gpufleet.health.app;

import java.util.concurrent.atomic.LongAdder;

/** What the reconciler has done since the process started. */
public final class ReconcileCounters {
    final LongAdder patches = new LongAdder();
    final LongAdder conditions = new LongAdder();
    final LongAdder conflicts = new LongAdder();
    final LongAdder failures = new LongAdder();
    final LongAdder foreign = new LongAdder();

    /** Patches of taint, label and annotations that were taken. */
    public long patches() {
        return patches.sum();
    }

    /** Patches of the condition that were taken. */
    public long conditions() {
        return conditions.sum();
    }

    /** Patches that met a Node changed in the meantime, and were made anew. */
    public long conflicts() {
        return conflicts.sum();
    }

    /** Calls that were refused or not answered. */
    public long failures() {
        return failures.sum();
    }

    /** Marks of others met in the place of ours. */
    public long foreign() {
        return foreign.sum();
    }
}
