package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** W3C trace context. That of a fact that begins a trace follows from the event id: sent again, it has the same. */
public final class TraceParent {
    private static final int TRACE_BYTES = 16;
    private static final int SPAN_BYTES = 8;

    private TraceParent() {}

    /** {@code 00-<trace id>-<span id>-01}, 55 characters. */
    public static String of(EventId id) {
        byte[] digest = sha256(id.toString());
        HexFormat hex = HexFormat.of();
        return "00-" + hex.formatHex(digest, 0, TRACE_BYTES) + "-"
                + hex.formatHex(digest, TRACE_BYTES, TRACE_BYTES + SPAN_BYTES) + "-01";
    }

    /** The trace context that a request carries, or empty where its header is none: the fact begins a trace then. */
    public static String ofRequest(String header) {
        return EnvelopeBounds.traceparent(header);
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }
}
