package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.ReviewDoor;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.http.Problem;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.net.BindException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTPS server that the API server calls. */
public final class WebhookDoor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WebhookDoor.class);
    private static final long MAX_REVIEW_BYTES = 4L * 1024 * 1024;
    private static final int BAD_REQUEST = 400;
    private static final int UNAVAILABLE = 503;

    private final HttpServer server;

    private WebhookDoor(HttpServer server) {
        this.server = server;
    }

    /** Serves every path; port 0 takes a free one. Blocks the caller. */
    public static WebhookDoor open(
            Vertx vertx, ReviewDoor reviews, ServingCertificate certificate, String host, int port) {
        Router router = Router.router(vertx);
        router.post()
                .handler(BodyHandler.create(false).setBodyLimit(MAX_REVIEW_BYTES))
                .handler(context -> answer(context, reviews));
        var options = new HttpServerOptions()
                .setSsl(true)
                .setUseAlpn(true)
                .setKeyCertOptions(new PemKeyCertOptions()
                        .addCertValue(buffer(certificate.certificatePem()))
                        .addKeyValue(buffer(certificate.keyPem())));
        try {
            return new WebhookDoor(vertx.createHttpServer(options)
                    .requestHandler(router)
                    .listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get());
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException("GPUFLEET_WEBHOOK_PORT=" + port + " can not be opened on " + host
                        + ": the port is in use; end the program that has it or choose another port");
            }
            throw new IllegalStateException("webhook on " + host + ":" + port + " did not start", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while starting the webhook", interrupted);
        }
    }

    private static void answer(RoutingContext context, ReviewDoor reviews) {
        Buffer body = context.body().buffer();
        reviews.answer(body == null ? new byte[0] : body.getBytes())
                .thenAccept(answer -> context.vertx()
                        .runOnContext(ignored -> context.response()
                                .putHeader("content-type", "application/json")
                                .end(Buffer.buffer(answer))))
                .exceptionally(failure -> {
                    Throwable cause = failure.getCause();
                    Throwable shown = failure instanceof CompletionException && cause != null ? cause : failure;
                    context.vertx().runOnContext(ignored -> refuse(context, shown));
                    return null;
                });
    }

    private static void refuse(RoutingContext context, Throwable failure) {
        String line = String.valueOf(failure.getMessage());
        if (failure instanceof IllegalArgumentException) {
            Problem.answer(context, BAD_REQUEST, "not a review", line);
        } else {
            LOG.atWarn().addKeyValue("error", line).log("no decision");
            Problem.answer(context, UNAVAILABLE, "no decision now", line);
        }
    }

    private static Buffer buffer(String pem) {
        return Buffer.buffer(pem.getBytes(StandardCharsets.US_ASCII));
    }

    /** The port that is served. */
    public int port() {
        return server.actualPort();
    }

    @Override
    public void close() {
        server.close().toCompletionStage().toCompletableFuture().join();
    }
}
