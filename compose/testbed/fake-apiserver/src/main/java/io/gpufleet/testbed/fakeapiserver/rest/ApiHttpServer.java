package io.gpufleet.testbed.fakeapiserver.rest;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.testbed.fakeapiserver.admission.AdmissionAttributes.UserInfo;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.net.BindException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTP server: event loops read and write, virtual threads handle requests. */
public final class ApiHttpServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ApiHttpServer.class);

    private final Vertx vertx;
    private final RequestRouter routes;
    private final BearerTokens tokens;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpServer server;

    private ApiHttpServer(Vertx vertx, RequestRouter routes, BearerTokens tokens) {
        this.vertx = vertx;
        this.routes = routes;
        this.tokens = tokens;
        // JDK clients offer an upgrade to HTTP/2 with every first request; without it a watch is one plain stream.
        server = vertx.createHttpServer(new HttpServerOptions()
                .setHttp2ClearTextEnabled(false)
                .setCompressionSupported(false)
                .setMaxInitialLineLength(64 * 1024)
                .setMaxHeaderSize(64 * 1024));
    }

    /** Listens; port 0 takes a free one. */
    public static ApiHttpServer open(Vertx vertx, RequestRouter routes, BearerTokens tokens, String host, int port) {
        ApiHttpServer opened = new ApiHttpServer(vertx, routes, tokens);
        try {
            opened.server
                    .requestHandler(opened::handle)
                    .listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get();
            return opened;
        } catch (ExecutionException failed) {
            opened.threads.shutdownNow();
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException("GPUFLEET_FAKE_APISERVER_PORT=" + port + " cannot be opened on " + host
                        + ": the port is in use; stop the program that uses it or choose another port");
            }
            throw new IllegalStateException("the fake API server did not start on " + host + ":" + port, failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while starting", interrupted);
        }
    }

    /** The port that is served. */
    public int port() {
        return server.actualPort();
    }

    private void handle(HttpServerRequest request) {
        if (WatchStream.isUpgrade(request)) {
            withErrorResponse(request, () -> {
                ApiRequest call = parse(request, new byte[0]);
                WatchRequest watching = routes.watch(call).orElseThrow(ApiError::noSuchPath);
                WatchStream.overWebSocket(vertx, request, watching);
            });
            return;
        }
        request.body()
                .onSuccess(body -> threads.execute(() -> withErrorResponse(request, () -> {
                    ApiRequest call = parse(request, body.getBytes());
                    Optional<WatchRequest> watching = routes.watch(call);
                    if (watching.isPresent()) {
                        WatchStream.overChunkedResponse(vertx, request, watching.get());
                    } else {
                        respond(request, routes.handle(call), call);
                    }
                })));
    }

    private void withErrorResponse(HttpServerRequest request, Runnable action) {
        try {
            action.run();
        } catch (ApiError refused) {
            send(request, refused.code(), Json.bytes(refused.status()), "application/json");
        } catch (RuntimeException broken) {
            LOG.atError()
                    .setCause(broken)
                    .addKeyValue("method", request.method())
                    .addKeyValue("path", request.path())
                    .log("request failed");
            ApiError error = ApiError.internal(broken.toString());
            send(request, error.code(), Json.bytes(error.status()), "application/json");
        }
    }

    private static void respond(HttpServerRequest request, ApiResponse answer, ApiRequest call) {
        call.warnings().stream()
                .distinct()
                .forEach(warning -> request.response()
                        .headers()
                        .add(
                                "Warning",
                                "299 - \"" + warning.replace("\\", "\\\\").replace("\"", "\\\"") + "\""));
        if (answer.body().isTextual()) {
            byte[] text = answer.body().asText().getBytes(StandardCharsets.UTF_8);
            send(request, answer.status(), text, "text/plain; charset=utf-8");
        } else {
            send(request, answer.status(), Json.bytes(answer.body()), "application/json");
        }
    }

    private static void send(HttpServerRequest request, int status, byte[] body, String type) {
        request.response()
                .setStatusCode(status)
                .putHeader(HttpHeaders.CONTENT_TYPE, type)
                .end(Buffer.buffer(body));
    }

    private ApiRequest parse(HttpServerRequest request, byte[] body) {
        Map<String, String> query = new TreeMap<>();
        request.params().forEach(query::putIfAbsent);
        UserInfo user = tokens.authenticate(header(request, "authorization"));
        return new ApiRequest(
                request.method().name(),
                path(request),
                query,
                new ApiRequest.Headers(
                        header(request, "content-type").split(";", 2)[0].strip(),
                        header(request, "accept"),
                        header(request, "user-agent")),
                user,
                body,
                new ArrayList<>());
    }

    private static String path(HttpServerRequest request) {
        String path = request.path();
        return path == null ? "/" : URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static String header(HttpServerRequest request, String name) {
        String value = request.getHeader(name);
        return value == null ? "" : value;
    }

    @Override
    public void close() throws Exception {
        server.close().toCompletionStage().toCompletableFuture().get();
        threads.shutdownNow();
    }
}
