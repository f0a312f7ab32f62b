package io.gpufleet.compose.kubeapi.rest;

import io.gpufleet.compose.kubeapi.admission.Question.User;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.kit.config.ConfigurationException;
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

/** The HTTP server: event loops read and write, virtual threads answer. */
public final class Door implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Door.class);

    private final Vertx vertx;
    private final Routes routes;
    private final Tokens tokens;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpServer server;

    private Door(Vertx vertx, Routes routes, Tokens tokens) {
        this.vertx = vertx;
        this.routes = routes;
        this.tokens = tokens;
        // JDK clients offer an upgrade to HTTP/2 with every first request; refused, a watch is one plain stream.
        server = vertx.createHttpServer(new HttpServerOptions()
                .setHttp2ClearTextEnabled(false)
                .setCompressionSupported(false)
                .setMaxInitialLineLength(64 * 1024)
                .setMaxHeaderSize(64 * 1024));
    }

    /** Listens; port 0 takes a free one. */
    public static Door open(Vertx vertx, Routes routes, Tokens tokens, String host, int port) {
        Door door = new Door(vertx, routes, tokens);
        try {
            door.server
                    .requestHandler(door::read)
                    .listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get();
            return door;
        } catch (ExecutionException failed) {
            door.threads.shutdownNow();
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException("GPUFLEET_KUBE_API_PORT=" + port + " can not be opened on " + host
                        + ": the port is in use; end the program that has it or choose another port");
            }
            throw new IllegalStateException("the stand-in API did not start on " + host + ":" + port, failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while starting", interrupted);
        }
    }

    /** The port that is served. */
    public int port() {
        return server.actualPort();
    }

    private void read(HttpServerRequest request) {
        if (Stream.isUpgrade(request)) {
            guarded(request, () -> {
                Call call = call(request, new byte[0]);
                Watching watching = routes.watch(call).orElseThrow(ApiError::noSuchPath);
                Stream.overWebSocket(vertx, request, watching);
            });
            return;
        }
        request.body()
                .onSuccess(body -> threads.execute(() -> guarded(request, () -> {
                    Call call = call(request, body.getBytes());
                    Optional<Watching> watching = routes.watch(call);
                    if (watching.isPresent()) {
                        Stream.overChunks(vertx, request, watching.get());
                    } else {
                        answer(request, routes.answer(call), call);
                    }
                })));
    }

    private void guarded(HttpServerRequest request, Runnable action) {
        try {
            action.run();
        } catch (ApiError refused) {
            send(request, refused.code(), Json.bytes(refused.status()), "application/json");
        } catch (RuntimeException broken) {
            LOG.atError()
                    .setCause(broken)
                    .addKeyValue("method", request.method())
                    .addKeyValue("path", request.path())
                    .log("a request could not be answered");
            ApiError error = ApiError.internal(broken.toString());
            send(request, error.code(), Json.bytes(error.status()), "application/json");
        }
    }

    private static void answer(HttpServerRequest request, Answer answer, Call call) {
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

    private Call call(HttpServerRequest request, byte[] body) {
        Map<String, String> query = new TreeMap<>();
        request.params().forEach(query::putIfAbsent);
        User user = tokens.caller(header(request, "authorization"));
        return new Call(
                request.method().name(),
                path(request),
                query,
                header(request, "content-type").split(";", 2)[0].strip(),
                header(request, "accept"),
                header(request, "user-agent"),
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
