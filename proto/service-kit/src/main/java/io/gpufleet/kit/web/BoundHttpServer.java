package io.gpufleet.kit.web;

import io.gpufleet.kit.config.ConfigurationException;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.net.BindException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** An HTTP server that is bound to its port. A port in use is reported as a {@link ConfigurationException}. */
public final class BoundHttpServer implements AutoCloseable {
    private static final int ANSWER_SECONDS = 5;

    private final HttpServer server;

    private BoundHttpServer(HttpServer server) {
        this.server = server;
    }

    /**
     * Serves a router by HTTP/1.1 without TLS. Port 0 selects a free port. Blocks, so it must not be called on an event loop.
     *
     * @param setting name of the setting with the port, for the error message
     */
    public static BoundHttpServer open(
            Vertx vertx, Handler<HttpServerRequest> requests, String host, int port, String setting) {
        return open(vertx, new ServerTls.Off().http(), requests, host, port, setting);
    }

    /** Serves with options, for example certificates. */
    public static BoundHttpServer open(
            Vertx vertx,
            HttpServerOptions options,
            Handler<HttpServerRequest> requests,
            String host,
            int port,
            String setting) {
        try {
            return new BoundHttpServer(vertx.createHttpServer(options)
                    .requestHandler(requests)
                    .listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get());
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException(setting + "=" + port + " cannot be bound on " + host
                        + ": the port is in use; stop the process that uses it or choose another port");
            }
            throw new IllegalStateException(setting + "=" + port + " on " + host + " cannot be served", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while opening " + setting + "=" + port, interrupted);
        }
    }

    /** Returns the port on which it listens. */
    public int port() {
        return server.actualPort();
    }

    /** Takes no new connection, and ends those that are open once their requests are answered, or after 5 s. */
    @Override
    public void close() throws Exception {
        server.shutdown(ANSWER_SECONDS, TimeUnit.SECONDS)
                .toCompletionStage()
                .toCompletableFuture()
                .get();
    }
}
