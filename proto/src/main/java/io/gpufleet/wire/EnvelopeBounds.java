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
    private static final int MAX_BOOT_ID = 128;
    /** As Kubernetes has it for names of objects. */
    private static final int MAX_WRITER = 253;

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
        if (id.epoch() - MAX_AHEAD.toMillis() > appendedAt.toEpochMilli()) {
            throw new IllegalArgumentException("incarnation " + id.epoch()
                    + " is more than a day ahead of the append time " + appendedAt + ": the writer's clock is wrong");
        }
    }

    private static void time(String header, Instant time) {
        if (time.isBefore(EARLIEST) || time.isAfter(LATEST)) {
            throw new IllegalArgumentException(header + " '" + time + "' is not between 1970 and 9999");
        }
    }

    /** Bounds the boot id of a payload, which is kept, and its lists, at any depth; few bytes have few entries. */
    static void check(Message payload, int bytes) {
        if (bytes > MAX_BOOT_ID) {
            bootId(BootId.of(payload));
        }
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

    /** A boot id is a UUID. */
    static String bootId(String id) {
        if (id.length() > MAX_BOOT_ID) {
            throw new IllegalArgumentException("boot id has " + id.length() + " characters, more than " + MAX_BOOT_ID);
        }
        return id;
    }

    /** The name of a node or a pod, which are kept for long. */
    static String writer(String name) {
        if (name.length() > MAX_WRITER) {
            throw new IllegalArgumentException(
                    "name of the writer has " + name.length() + " characters, more than " + MAX_WRITER);
        }
        return name;
    }

    /** A W3C trace context, or empty where a header holds none. */
    static String traceparent(String header) {
        return !header.isEmpty() && TRACEPARENT.matcher(header).matches() ? header : "";
    }
}
