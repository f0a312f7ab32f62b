package io.gpufleet.inventory.http;

import io.gpufleet.inventory.model.Fleet;
import io.vertx.core.http.HttpServerResponse;

/** One open stream of Server-Sent Events. */
final class StreamClient {
    /** Sends without news after which a comment shows that the connection lives. */
    private static final int SILENT_SENDS = 15;

    private final HttpServerResponse response;
    private final long endNanos;
    private Fleet seen;
    private String summary = "";
    private int silent;

    private StreamClient(HttpServerResponse response, Fleet seen, long endNanos) {
        this.response = response;
        this.seen = seen;
        this.endNanos = endNanos;
    }

    /**
     * Begins the response.
     *
     * @param seen the fleet as its client can list it
     * @param endNanos when it ends at the latest, by the monotonic clock
     */
    static StreamClient open(HttpServerResponse response, Fleet seen, long endNanos) {
        response.setChunked(true)
                .putHeader("content-type", "text/event-stream")
                .putHeader("cache-control", "no-store")
                // A proxy that buffers would hold events back.
                .putHeader("x-accel-buffering", "no");
        return new StreamClient(response, seen, endNanos);
    }

    /** The fleet that its client knows. */
    synchronized Fleet seen() {
        return seen;
    }

    /** Sends what is new; nothing where the client has not read what was sent before, which is then sent later. */
    synchronized void send(Fleet now, String counts, String changes) {
        if (ended() || response.writeQueueFull()) {
            return;
        }
        var events = new StringBuilder();
        if (!counts.equals(summary)) {
            events.append("event: summary\ndata: ").append(counts).append("\n\n");
        }
        if (!changes.isEmpty()) {
            events.append("event: nodes\ndata: ").append(changes).append("\n\n");
        }
        silent = events.isEmpty() ? silent + 1 : 0;
        if (silent == SILENT_SENDS) {
            silent = 0;
            events.append(":\n\n");
        }
        seen = now;
        summary = counts;
        if (!events.isEmpty()) {
            response.write(events.toString());
        }
    }

    boolean ended() {
        return response.ended() || response.closed();
    }

    void endAfter(long nanos) {
        if (nanos - endNanos >= 0) {
            end();
        }
    }

    synchronized void end() {
        if (!ended()) {
            response.end();
        }
    }
}
