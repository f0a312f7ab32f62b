package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.ReviewDoor;
import io.gpufleet.kit.web.HttpDoor;
import io.gpufleet.kit.web.Problem;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTPS server that the API server calls. */
public final class WebhookDoor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WebhookDoor.class);
    private static final long MAX_REVIEW_BYTES = 4L * 1024 * 1024;
    private static final int BAD_REQUEST = 400;
    private static final int UNAVAILABLE = 503;

    private final HttpDoor door;

    private WebhookDoor(HttpDoor door) {
        this.door = door;
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
        return new WebhookDoor(HttpDoor.open(vertx, options, router, host, port, "GPUFLEET_WEBHOOK_PORT"));
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
        return door.port();
    }

    @Override
    public void close() throws Exception {
        door.close();
    }
}
