package io.gpufleet.kit.web;

import io.gpufleet.kit.config.ConfigurationException;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.net.BindException;
import java.util.concurrent.ExecutionException;

/** Opens an HTTP server, or says plainly that the port is taken. */
public final class HttpDoor implements AutoCloseable {
    private final HttpServer server;

    private HttpDoor(HttpServer server) {
        this.server = server;
    }

    /**
     * Serves a router or a gRPC server. Port 0 takes a free one. Blocks the caller, so it is not for event loops.
     *
     * @param setting name of the setting that chose the port; a taken port is told by it
     */
    public static HttpDoor open(
            Vertx vertx, Handler<HttpServerRequest> requests, String host, int port, String setting) {
        return open(vertx, new HttpServerOptions(), requests, host, port, setting);
    }

    /** As the other, with options: certificates above all. */
    public static HttpDoor open(
            Vertx vertx,
            HttpServerOptions options,
            Handler<HttpServerRequest> requests,
            String host,
            int port,
            String setting) {
        try {
            return new HttpDoor(vertx.createHttpServer(options)
                    .requestHandler(requests)
                    .listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get());
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException(setting + "=" + port + " can not be opened on " + host
                        + ": the port is in use; end the program that has it or choose another port");
            }
            throw new IllegalStateException(setting + "=" + port + " on " + host + " can not be served", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while opening " + setting + "=" + port, interrupted);
        }
    }

    /** The port that is served. */
    public int port() {
        return server.actualPort();
    }

    @Override
    public void close() throws Exception {
        server.close().toCompletionStage().toCompletableFuture().get();
    }
}
