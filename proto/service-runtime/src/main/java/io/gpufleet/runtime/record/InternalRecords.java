package io.gpufleet.runtime.record;

import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventType;

/** Which events are the engine's own. */
public final class InternalRecords {
    private InternalRecords() {}

    /** Records that an engine keeps on a changelog for itself; a reader of that topic passes over them. */
    public static boolean housekeeping(DecodedRecord.Event event) {
        EventType type = event.envelope().type();
        return type == EventType.OFFSETS_COMMITTED
                || type == EventType.ACTIVE_CHANGED
                || type == EventType.WRITER_STARTED
                || type == EventType.DEADLETTER_REPLAYED;
    }
}
