package io.gpufleet.nodedaemon.http;

import io.gpufleet.kit.config.ConfigurationException;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.BindException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/** {@code /livez}, {@code /readyz} and {@code /metrics}: three paths need no router. */
public final class OpsDoor implements AutoCloseable {
    private final HttpServer server;

    private OpsDoor(HttpServer server) {
        this.server = server;
    }

    /**
     * What is answered.
     *
     * @param notAlive reasons why the process should be started anew
     * @param notReady reasons why it does not do its work
     * @param metrics the metrics page
     */
    public record Answers(Supplier<List<String>> notAlive, Supplier<List<String>> notReady, Supplier<String> metrics) {}

    /** Serves; port 0 takes a free one. Blocks the caller, so it is not for event loops. */
    public static OpsDoor open(Vertx vertx, String host, int port, Answers answers) throws InterruptedException {
        try {
            // An answer of more than one frame arrives garbled at a client that asks to go on in HTTP/2.
            return new OpsDoor(vertx.createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(false))
                    .requestHandler(request -> answer(request, answers))
                    .listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get());
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException("GPUFLEET_HTTP_PORT=" + port + " can not be opened on " + host
                        + ": the port is in use; end the program that has it or choose another port");
            }
            throw new ConfigurationException(
                    "GPUFLEET_HTTP_HOST=" + host + " with port " + port + " can not be opened: " + failed.getMessage());
        }
    }

    /** The port that is served. */
    public int port() {
        return server.actualPort();
    }

    private static void answer(HttpServerRequest request, Answers answers) {
        switch (request.path()) {
            // dcgm-exporter's probes ask for /health.
            case "/livez", "/health" -> reasons(request, answers.notAlive().get());
            case "/readyz" -> reasons(request, answers.notReady().get());
            case "/metrics" ->
                request.response()
                        .putHeader("content-type", "text/plain; version=0.0.4; charset=utf-8")
                        .end(answers.metrics().get());
            case null, default ->
                request.response()
                        .setStatusCode(404)
                        .putHeader("content-type", "text/plain; charset=utf-8")
                        .end("there is /livez, /readyz and /metrics\n");
        }
    }

    private static void reasons(HttpServerRequest request, List<String> reasons) {
        request.response()
                .setStatusCode(reasons.isEmpty() ? 200 : 503)
                .putHeader("content-type", "application/json")
                .end(new JsonObject()
                        .put("ok", reasons.isEmpty())
                        .put("reasons", new JsonArray(reasons))
                        .encode());
    }

    @Override
    public void close() {
        server.close();
    }
}
