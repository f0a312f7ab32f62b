package io.gpufleet.health.app;

import java.util.concurrent.atomic.LongAdder;

/** Counters of the reconciler since the process started. */
public final class ReconcileCounters {
    final LongAdder patches = new LongAdder();
    final LongAdder conditions = new LongAdder();
    final LongAdder conflicts = new LongAdder();
    final LongAdder failures = new LongAdder();
    final LongAdder foreign = new LongAdder();

    /** Applied patches of taint, label and annotations. */
    public long patches() {
        return patches.sum();
    }

    /** Applied patches of the condition. */
    public long conditions() {
        return conditions.sum();
    }

    /** Patches that were retried, since the Node had changed. */
    public long conflicts() {
        return conflicts.sum();
    }

    /** Calls that were rejected or not answered. */
    public long failures() {
        return failures.sum();
    }

    /** Foreign fields found in place of ours. */
    public long foreign() {
        return foreign.sum();
    }
}
