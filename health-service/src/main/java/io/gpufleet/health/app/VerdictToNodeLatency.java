package io.gpufleet.health.app;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Measures the way of a committed verdict to the Node as others see it. A verdict that needs no patch, or that a later
 * one overtakes, is not counted. Thread-safe.
 */
public final class VerdictToNodeLatency {
    /** A part of that way; each begins where the one before it ends. */
    public enum Hop {
        /** Until the patch of the Node is sent. */
        COMMITTED_TO_SENT,
        /** Until the API server has answered it. */
        SENT_TO_ACKED,
        /** Until our own watch has the patched Node; nothing when it had it before the answer. */
        ACKED_TO_WATCHED
    }

    /** Receives each time measured. */
    public interface Recorder {
        /** One verdict took so long. */
        void took(Hop hop, Duration time);
    }

    private record Times(long revision, long committed, long acked, boolean watched) {}

    private final LongSupplier nanos;
    private final Recorder recorder;
    private final Map<String, Times> byNode = new ConcurrentHashMap<>();

    /** Measures by a monotonic clock. */
    public VerdictToNodeLatency(LongSupplier nanos, Recorder recorder) {
        this.nanos = nanos;
        this.recorder = recorder;
    }

    void committed(String node, long revision) {
        byNode.put(node, new Times(revision, nanos.getAsLong(), 0, false));
    }

    /** The time to hand to {@link #acked}. */
    long sending() {
        return nanos.getAsLong();
    }

    /** The first patch of a verdict was sent then and is answered now. */
    void acked(String node, long revision, long sent) {
        long now = nanos.getAsLong();
        byNode.computeIfPresent(node, (_, times) -> {
            // A patch that was sent before belongs to an earlier commit of the same verdict, such as that of a former
            // term.
            if (times.revision() != revision || times.acked() != 0 || sent - times.committed() < 0) {
                return times;
            }
            took(Hop.COMMITTED_TO_SENT, times.committed(), sent);
            took(Hop.SENT_TO_ACKED, sent, now);
            if (times.watched()) {
                took(Hop.ACKED_TO_WATCHED, now, now);
                return null;
            }
            return new Times(revision, times.committed(), now, false);
        });
    }

    /** Our watch has the Node with this revision applied. */
    void watched(String node, long revision) {
        byNode.computeIfPresent(node, (_, times) -> {
            if (times.revision() != revision) {
                return times;
            }
            if (times.acked() == 0) {
                return new Times(revision, times.committed(), 0, true);
            }
            // Read here: an answer that comes at the same time is not later than this.
            took(Hop.ACKED_TO_WATCHED, times.acked(), nanos.getAsLong());
            return null;
        });
    }

    void forget(String node) {
        byNode.remove(node);
    }

    private void took(Hop hop, long from, long to) {
        recorder.took(hop, Duration.ofNanos(to - from));
    }
}
