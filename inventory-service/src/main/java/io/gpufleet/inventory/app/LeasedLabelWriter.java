package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.label.LabelSet;
import java.util.function.BooleanSupplier;

/** Writes labels during one term of a leader: asks the lease immediately before each write. */
final class LeasedLabelWriter implements LabelWriter {
    private final LabelWriter writer;
    private final BooleanSupplier lease;
    private volatile boolean ended;

    LeasedLabelWriter(LabelWriter writer, BooleanSupplier lease) {
        this.writer = writer;
        this.lease = lease;
    }

    @Override
    public ApplyResult apply(String node, String uid, LabelSet labels) {
        return !ended && lease.getAsBoolean() ? writer.apply(node, uid, labels) : new ApplyResult.NotLeading();
    }

    /** No write is begun from now on. */
    void end() {
        ended = true;
    }
}
