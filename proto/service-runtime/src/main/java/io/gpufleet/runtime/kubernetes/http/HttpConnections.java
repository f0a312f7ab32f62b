package io.gpufleet.runtime.kubernetes.http;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Connections to API servers, each used for one request after the other. Thread-safe. */
final class HttpConnections implements AutoCloseable {
    /** Load balancers forget a connection that was idle for some minutes, and some do not say so. */
    private static final long IDLE_NANOS = Duration.ofSeconds(30).toNanos();

    private final @Nullable Duration connectTimeout;
    private final @Nullable SSLContext tls;
    private final LongSupplier nanos;
    private final Deque<Idle> idle = new ArrayDeque<>();
    private boolean closed;

    /** Where a request goes. */
    record Server(String host, int port, boolean tls) {}

    private record Idle(HttpConnection connection, long since) {}

    /** Opens none before the first request. */
    HttpConnections(@Nullable Duration connectTimeout, @Nullable SSLContext tls, LongSupplier nanos) {
        this.connectTimeout = connectTimeout;
        this.tls = tls;
        this.nanos = nanos;
    }

    /** Sends a request and reads its answer; an answer with any status is no failure. */
    HttpAnswer send(EncodedRequest request) throws IOException {
        HttpConnection connection = reusable(request.server());
        if (connection == null) {
            connection = HttpConnection.open(request.server(), connectTimeout, tls, nanos);
        }
        try {
            HttpAnswer answer = connection.exchange(request);
            if (answer.keepsConnection()) {
                keep(connection);
            } else {
                connection.close();
            }
            return answer;
        } catch (IOException | RuntimeException failed) {
            connection.close();
            throw failed;
        }
    }

    /** The connection used last that its server has not closed. */
    private @Nullable HttpConnection reusable(Server server) {
        HttpConnection found = next(server);
        while (found != null && found.isStale()) {
            found.close();
            found = next(server);
        }
        return found;
    }

    private synchronized @Nullable HttpConnection next(Server server) {
        long now = nanos.getAsLong();
        while (!idle.isEmpty() && now - idle.getLast().since() > IDLE_NANOS) {
            idle.removeLast().connection().close();
        }
        for (Idle candidate : idle) {
            if (candidate.connection().server().equals(server)) {
                idle.remove(candidate);
                return candidate.connection();
            }
        }
        return null;
    }

    private synchronized void keep(HttpConnection connection) {
        if (closed) {
            connection.close();
        } else {
            idle.addFirst(new Idle(connection, nanos.getAsLong()));
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        idle.forEach(one -> one.connection().close());
        idle.clear();
    }
}
