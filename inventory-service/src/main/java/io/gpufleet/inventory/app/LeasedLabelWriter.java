package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.label.LabelSet;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes labels during one term of a leader: asks the lease immediately before each write. */
final class LeasedLabelWriter implements LabelWriter {
    private static final Logger LOG = LoggerFactory.getLogger(LeasedLabelWriter.class);

    private final LabelWriter writer;
    private final BooleanSupplier lease;
    private final ReentrantReadWriteLock writes = new ReentrantReadWriteLock();
    private volatile boolean ended;

    LeasedLabelWriter(LabelWriter writer, BooleanSupplier lease) {
        this.writer = writer;
        this.lease = lease;
    }

    @Override
    public ApplyResult apply(String node, String uid, LabelSet labels) {
        writes.readLock().lock();
        try {
            return !ended && lease.getAsBoolean() ? writer.apply(node, uid, labels) : new ApplyResult.NotLeading();
        } finally {
            writes.readLock().unlock();
        }
    }

    /**
     * Begins no write from now on, and waits for those in flight: the next leader may write other labels as soon as this
     * returns. A write that takes longer than {@code wait} is not waited for, as the term must end.
     */
    void end(Duration wait) {
        ended = true;
        try {
            if (writes.writeLock().tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)) {
                writes.writeLock().unlock();
            } else {
                LOG.atWarn().log("writes of labels are still in flight");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
