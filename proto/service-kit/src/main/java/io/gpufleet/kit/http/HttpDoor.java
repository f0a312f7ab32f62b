package io.gpufleet.kit.http;

import io.gpufleet.kit.config.ConfigurationException;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import java.net.BindException;
import java.util.concurrent.ExecutionException;

/** Opens an HTTP server, or says plainly that the port is taken. */
public final class HttpDoor implements AutoCloseable {
    private final HttpServer server;

    private HttpDoor(HttpServer server) {
        this.server = server;
    }

    /** Serves the router. Port 0 takes a free one. Blocks the caller, so it is not for event loops. */
    public static HttpDoor open(Vertx vertx, Router router, String host, int port, String setting) {
        try {
            return new HttpDoor(vertx.createHttpServer()
                    .requestHandler(router)
                    .listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get());
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException(setting + "=" + port + " can not be opened on " + host
                        + ": the port is in use; end the program that has it or choose another port");
            }
            throw new IllegalStateException("HTTP server on " + host + ":" + port + " did not start", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while starting the HTTP server", interrupted);
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
