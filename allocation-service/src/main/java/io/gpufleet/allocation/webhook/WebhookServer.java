package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.AdmissionReviewHandler;
import io.gpufleet.allocation.app.ServingCertificate;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.ProblemDetails;
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

/** HTTPS server of the admission webhook. */
public final class WebhookServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WebhookServer.class);
    private static final long MAX_REVIEW_BYTES = 4L * 1024 * 1024;
    private static final int BAD_REQUEST = 400;
    private static final int UNAVAILABLE = 503;

    private final BoundHttpServer server;

    private WebhookServer(BoundHttpServer server) {
        this.server = server;
    }

    /** Opens the server, which answers POST on every path; port 0 takes a free one. Blocks the caller. */
    public static WebhookServer open(
            Vertx vertx, AdmissionReviewHandler handler, ServingCertificate certificate, String host, int port) {
        Router router = Router.router(vertx);
        router.post()
                .handler(BodyHandler.create(false).setBodyLimit(MAX_REVIEW_BYTES))
                .handler(context -> answer(context, handler));
        var options = new HttpServerOptions()
                .setSsl(true)
                .setUseAlpn(true)
                .setKeyCertOptions(new PemKeyCertOptions()
                        .addCertValue(buffer(certificate.certificatePem()))
                        .addKeyValue(buffer(certificate.keyPem())));
        var server =
                new WebhookServer(BoundHttpServer.open(vertx, options, router, host, port, "GPUFLEET_WEBHOOK_PORT"));
        LOG.atInfo().addKeyValue("port", server.port()).log("webhook listening");
        return server;
    }

    private static void answer(RoutingContext context, AdmissionReviewHandler handler) {
        Buffer body = context.body().buffer();
        handler.handle(body == null ? new byte[0] : body.getBytes())
                .thenAccept(answer -> context.vertx()
                        .runOnContext(ignored -> context.response()
                                .putHeader("content-type", "application/json")
                                .end(Buffer.buffer(answer))))
                .exceptionally(failure -> {
                    Throwable cause = failure.getCause();
                    Throwable shown = failure instanceof CompletionException && cause != null ? cause : failure;
                    context.vertx().runOnContext(ignored -> fail(context, shown));
                    return null;
                });
    }

    private static void fail(RoutingContext context, Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        if (failure instanceof IllegalArgumentException) {
            ProblemDetails.respond(context, BAD_REQUEST, "not an AdmissionReview", message);
        } else {
            LOG.atWarn().addKeyValue("error", message).log("admission review not decided");
            ProblemDetails.respond(context, UNAVAILABLE, "no admission decision", message);
        }
    }

    private static Buffer buffer(String pem) {
        return Buffer.buffer(pem.getBytes(StandardCharsets.US_ASCII));
    }

    /** The port that is served. */
    public int port() {
        return server.port();
    }

    @Override
    public void close() throws Exception {
        server.close();
    }
}
