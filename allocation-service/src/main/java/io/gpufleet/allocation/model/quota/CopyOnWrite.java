package io.gpufleet.allocation.model.quota;

import java.util.function.UnaryOperator;

/** A collection that is copied before its first change. */
final class CopyOnWrite<C> {
    private final UnaryOperator<C> copy;
    private C collection;
    private boolean copied;

    CopyOnWrite(C shared, UnaryOperator<C> copy) {
        this.collection = shared;
        this.copy = copy;
    }

    /** The collection, to be read only. */
    C read() {
        return collection;
    }

    /** The collection, to be changed. */
    C write() {
        if (!copied) {
            collection = copy.apply(collection);
            copied = true;
        }
        return collection;
    }
}
