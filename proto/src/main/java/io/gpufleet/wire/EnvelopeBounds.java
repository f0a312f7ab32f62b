package io.gpufleet.wire;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Limits of a record, within which whatever is made of it can be written again. */
final class EnvelopeBounds {
    /** Longest value of a header that is read. */
    static final int MAX_HEADER_BYTES = 1024;

    private static final int MAX_ENTRIES = 10_000;
    /** A writer whose clock is further ahead would shut out every later event of its own. */
    private static final Duration MAX_AHEAD = Duration.ofDays(1);

    private static final Instant EARLIEST = Instant.parse("1970-01-01T00:00:00Z");
    /** The last that a protobuf Timestamp prints. */
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    private static final Pattern TRACEPARENT = Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

    private EnvelopeBounds() {}

    static void check(EventId id, EventTime time, Instant appendedAt) {
        time("ce_time", time.occurred());
        time("ce_recordedtime", time.recorded());
        long latest = appendedAt.plus(MAX_AHEAD).toEpochMilli();
        if (id.epoch() > latest) {
            throw new IllegalArgumentException("incarnation " + id.epoch()
                    + " is more than a day ahead of the append time " + appendedAt + ": the writer's clock is wrong");
        }
    }

    private static void time(String header, Instant time) {
        if (time.isBefore(EARLIEST) || time.isAfter(LATEST)) {
            throw new IllegalArgumentException(header + " '" + time + "' is not between 1970 and 9999");
        }
    }

    /** Bounds the lists of a payload, at any depth; in so many bytes there are no more entries than that. */
    static void check(Message payload, int bytes) {
        if (bytes > MAX_ENTRIES) {
            check(payload);
        }
    }

    private static void check(Message payload) {
        for (Map.Entry<FieldDescriptor, Object> entry : payload.getAllFields().entrySet()) {
            switch (entry.getValue()) {
                case List<?> list -> {
                    if (list.size() > MAX_ENTRIES) {
                        throw new IllegalArgumentException(
                                "field " + entry.getKey().getName() + " has " + list.size() + " entries, more than "
                                        + MAX_ENTRIES);
                    }
                    list.forEach(element -> {
                        if (element instanceof Message message) {
                            check(message);
                        }
                    });
                }
                case Message message -> check(message);
                default -> {}
            }
        }
    }

    /** A W3C trace context, or empty where a header holds none. */
    static String traceparent(String header) {
        return TRACEPARENT.matcher(header).matches() ? header : "";
    }
}
