package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * The headers of an event that are read. They are found in one pass: Kafka's own look-up walks through all of them for each
 * name.
 */
final class EventHeaders {
    private static final String[] NAMES = {
        "content-type",
        "ce_specversion",
        "ce_id",
        "ce_source",
        "ce_type",
        "ce_time",
        "ce_recordedtime",
        "ce_agems",
        "ce_partitionkey",
        "ce_sequence",
        "ce_dataschema",
        "ce_subject",
        "ce_traceparent"
    };

    private static final byte[] NONE = {};

    private final byte[][] values = new byte[NAMES.length][];

    private EventHeaders() {
        Arrays.fill(values, NONE);
    }

    static EventHeaders of(Headers headers) {
        var found = new EventHeaders();
        // Whoever writes with a codec writes them in this order.
        int expected = 0;
        for (Header header : headers) {
            int index = indexOf(header.key(), expected);
            if (index >= 0) {
                // The last of one name counts.
                found.values[index] = header.value() == null ? NONE : header.value();
                expected = index + 1;
            }
        }
        return found;
    }

    private static int indexOf(String name, int expected) {
        for (int i = 0; i < NAMES.length; i++) {
            int index = (expected + i) % NAMES.length;
            if (NAMES[index].equals(name)) {
                return index;
            }
        }
        return -1;
    }

    /** The text of a header, empty where there is none; refuses one that is too long. */
    String get(String name) {
        byte[] value = values[indexOf(name, 0)];
        if (value.length > EnvelopeBounds.MAX_HEADER_BYTES) {
            throw new IllegalArgumentException(
                    "header " + name + " has " + value.length + " bytes, more than " + EnvelopeBounds.MAX_HEADER_BYTES);
        }
        return new String(value, UTF_8);
    }

    /** A trace is a help, never a reason to refuse an event. */
    String trace() {
        byte[] value = values[NAMES.length - 1];
        return value.length > EnvelopeBounds.MAX_HEADER_BYTES ? "" : new String(value, UTF_8);
    }
}
