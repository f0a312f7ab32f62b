package io.gpufleet.runtime.record;

import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** The most that a record takes on the log. */
public final class RecordSize {
    /** A batch header of 61 bytes and the record's own lengths, times and offset. */
    private static final int FRAME_BYTES = 128;

    private static final int HEADER_FRAME_BYTES = 10;

    private RecordSize() {}

    public static int of(byte @Nullable [] key, byte @Nullable [] value, Iterable<Header> headers) {
        int size = FRAME_BYTES + (key == null ? 0 : key.length) + (value == null ? 0 : value.length);
        for (Header header : headers) {
            size += HEADER_FRAME_BYTES + header.key().length() + (header.value() == null ? 0 : header.value().length);
        }
        return size;
    }
}
