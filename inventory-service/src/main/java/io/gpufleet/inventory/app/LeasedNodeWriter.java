package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.inventory.model.taint.TaintPlan;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes to Nodes during one term of a leader: asks the lease immediately before each write. */
final class LeasedNodeWriter implements NodeWriter {
    private static final Logger LOG = LoggerFactory.getLogger(LeasedNodeWriter.class);

    private final NodeWriter writer;
    private final BooleanSupplier lease;
    private final ReentrantReadWriteLock writes = new ReentrantReadWriteLock();
    private volatile boolean ended;

    LeasedNodeWriter(NodeWriter writer, BooleanSupplier lease) {
        this.writer = writer;
        this.lease = lease;
    }

    @Override
    public ApplyResult apply(String node, String uid, LabelSet labels) {
        return whileLeading(() -> writer.apply(node, uid, labels), new ApplyResult.NotLeading());
    }

    @Override
    public PatchResult patchTaints(NodeObject observed, TaintPlan plan) {
        return whileLeading(() -> writer.patchTaints(observed, plan), new PatchResult.NotLeading());
    }

    @Override
    public void recordEvent(NodeObject node, KubernetesNodeEvent event) {
        var _ = whileLeading(
                () -> {
                    writer.recordEvent(node, event);
                    return true;
                },
                false);
    }

    private <T> T whileLeading(Supplier<T> write, T otherwise) {
        writes.readLock().lock();
        try {
            return !ended && lease.getAsBoolean() ? write.get() : otherwise;
        } finally {
            writes.readLock().unlock();
        }
    }

    /**
     * Begins no write from now on, and waits for those in flight: the next leader may write something else as soon as this
     * returns. A write that takes longer than {@code wait} is not waited for, as the term must end.
     */
    void end(Duration wait) {
        ended = true;
        try {
            if (writes.writeLock().tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)) {
                writes.writeLock().unlock();
            } else {
                LOG.atWarn().log("writes to Nodes are still in flight");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
