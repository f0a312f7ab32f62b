package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * The headers of an event. They are found in one pass: Kafka's own look-up walks through all of them for each name.
 */
final class EventHeaders {
    /** A header, in the order in which a codec writes them. */
    enum Name {
        CONTENT_TYPE("content-type", true),
        SPEC_VERSION("ce_specversion", true),
        ID("ce_id", true),
        SOURCE("ce_source", true),
        TYPE("ce_type", true),
        TIME("ce_time", true),
        RECORDED_TIME("ce_recordedtime", true),
        AGE_MILLIS("ce_agems", true),
        PARTITION_KEY("ce_partitionkey", false),
        SEQUENCE("ce_sequence", false),
        DATA_SCHEMA("ce_dataschema", false),
        SUBJECT("ce_subject", true),
        TRACE_PARENT("ce_traceparent", true);

        private static final Name[] ALL = values();

        private final String text;
        private final boolean read;

        Name(String text, boolean read) {
            this.text = text;
            this.read = read;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    private static final byte[] NONE = {};

    private final byte[][] values = new byte[Name.ALL.length][];

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
                // The last of one name counts. Kafka copies each value that is asked for.
                if (Name.ALL[index].read) {
                    byte[] value = header.value();
                    found.values[index] = value == null ? NONE : value;
                }
                expected = index + 1;
            }
        }
        return found;
    }

    private static int indexOf(String name, int expected) {
        for (int i = 0; i < Name.ALL.length; i++) {
            int index = (expected + i) % Name.ALL.length;
            if (Name.ALL[index].text.equals(name)) {
                return index;
            }
        }
        return -1;
    }

    /** The text of a header, empty where there is none; refuses one that is too long. */
    String get(Name name) {
        byte[] value = values[name.ordinal()];
        if (value.length > EnvelopeBounds.MAX_HEADER_BYTES) {
            throw new IllegalArgumentException(
                    "header " + name + " has " + value.length + " bytes, more than " + EnvelopeBounds.MAX_HEADER_BYTES);
        }
        return value.length == 0 ? "" : new String(value, UTF_8);
    }

    /** The text of a header that an event must have. */
    String required(Name name) {
        String value = get(name);
        if (value.isEmpty()) {
            throw new IllegalArgumentException("header " + name + " is missing");
        }
        return value;
    }

    /** True for a header with exactly these bytes. */
    boolean has(Name name, byte[] value) {
        return Arrays.equals(values[name.ordinal()], value);
    }

    /** A trace is a help, never a reason to refuse an event. */
    String trace() {
        byte[] value = values[Name.TRACE_PARENT.ordinal()];
        return value.length == 0 || value.length > EnvelopeBounds.MAX_HEADER_BYTES ? "" : new String(value, UTF_8);
    }
}
