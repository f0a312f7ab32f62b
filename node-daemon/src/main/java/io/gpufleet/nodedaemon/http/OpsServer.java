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

/** {@code /livez}, {@code /readyz}, {@code /metrics} and the reports: served without a router. */
public final class OpsServer implements AutoCloseable {
    private final HttpServer server;

    private OpsServer(HttpServer server) {
        this.server = server;
    }

    /**
     * Suppliers of the responses.
     *
     * @param livenessFailures reasons to restart the process; empty if it is alive
     * @param readinessFailures reasons why it is not ready; empty if it is
     * @param metrics the metrics page
     * @param reports reports for operators of the same machine
     */
    public record OpsResponses(
            Supplier<List<String>> livenessFailures,
            Supplier<List<String>> readinessFailures,
            Supplier<String> metrics,
            DiagnosticReports reports) {}

    /** Starts the server; port 0 chooses a free port. Blocks, so do not call it on an event loop. */
    public static OpsServer open(Vertx vertx, String host, int port, OpsResponses responses)
            throws InterruptedException {
        var reports = new ReportRoute(vertx, responses.reports());
        try {
            // After an upgrade to HTTP/2 a response of several frames arrives corrupted.
            return new OpsServer(vertx.createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(false))
                    .requestHandler(request -> respond(request, responses, reports))
                    .listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get());
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException("GPUFLEET_HTTP_PORT=" + port + " cannot be opened on " + host
                        + ": the port is in use; stop the program that uses it or choose another port");
            }
            throw new ConfigurationException(
                    "GPUFLEET_HTTP_HOST=" + host + " with port " + port + " cannot be opened: " + failed.getMessage());
        }
    }

    /** The port of the server. */
    public int port() {
        return server.actualPort();
    }

    private static void respond(HttpServerRequest request, OpsResponses responses, ReportRoute reports) {
        switch (request.path()) {
            // The path of dcgm-exporter's probes.
            case "/livez", "/health" ->
                respondProbe(request, responses.livenessFailures().get());
            case "/readyz" ->
                respondProbe(request, responses.readinessFailures().get());
            case "/metrics" ->
                request.response()
                        .putHeader("content-type", "text/plain; version=0.0.4; charset=utf-8")
                        .end(responses.metrics().get());
            case "/doctor" -> reports.respond(request, "doctor");
            case "/probe" -> reports.respond(request, "probe");
            case null, default ->
                request.response()
                        .setStatusCode(404)
                        .putHeader("content-type", "text/plain; charset=utf-8")
                        .end("paths: /livez, /readyz, /metrics; from the same machine /doctor, /probe\n");
        }
    }

    private static void respondProbe(HttpServerRequest request, List<String> reasons) {
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
