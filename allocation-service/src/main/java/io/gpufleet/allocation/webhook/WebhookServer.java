package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.AdmissionProof;
import io.gpufleet.allocation.app.ServingCertificate;
import io.gpufleet.allocation.app.quota.AdmissionReviewHandler;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.ProblemDetails;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** HTTPS server of the admission webhook, for callers that know its path. */
public final class WebhookServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WebhookServer.class);
    private static final long MAX_REVIEW_BYTES = 4L * 1024 * 1024;
    /** How long an ending server answers, so that the API server leaves each connection before it is closed. */
    private static final Duration LEAVE = Duration.ofSeconds(1);

    private static final String RECEIVED = "received";
    private static final int BAD_REQUEST = 400;
    private static final int FORBIDDEN = 403;
    private static final int UNAVAILABLE = 503;

    private final Vertx vertx;
    private final AdmissionReviewHandler handler;
    private final AdmissionProof proof;
    private final String host;
    private final int port;
    private final String clientCa;
    private volatile @Nullable ServingKey key;
    private volatile boolean ending;
    private @Nullable BoundHttpServer server;

    /** A server that is not open, for callers with or without a certificate. */
    public WebhookServer(Vertx vertx, AdmissionReviewHandler handler, AdmissionProof proof, String host, int port) {
        this(vertx, handler, proof, host, port, "");
    }

    /**
     * A server that is not open.
     *
     * @param clientCa PEM file with the CA without whose certificate no caller is answered; empty: none is needed
     */
    public WebhookServer(
            Vertx vertx, AdmissionReviewHandler handler, AdmissionProof proof, String host, int port, String clientCa) {
        this.vertx = vertx;
        this.handler = handler;
        this.proof = proof;
        this.host = host;
        this.port = port;
        this.clientCa = clientCa;
    }

    /**
     * Opens the server, which answers POST on every path that ends with a valid token, or replaces the certificate and key
     * of an open one. Blocks the caller.
     */
    public synchronized void serve(ServingCertificate certificate) {
        proof.replace(certificate.proofKey());
        ServingKey known = key;
        if (known == null) {
            var first = new ServingKey(certificate);
            server = open(first);
            key = first;
            LOG.atInfo().addKeyValue("port", port).log("webhook listening");
        } else {
            known.replace(certificate);
            LOG.atInfo().log("webhook certificate replaced");
        }
    }

    /** When the certificate that is served expires; empty before there is one. */
    public Optional<Instant> certificateExpiry() {
        return Optional.ofNullable(key).flatMap(ServingKey::expiry);
    }

    private BoundHttpServer open(ServingKey serving) {
        Router router = Router.router(vertx);
        ProblemDetails.mount(router);
        router.post().handler(this::admitCaller);
        router.post().handler(this::announceEnd);
        router.post()
                .handler(BodyHandler.create(false).setBodyLimit(MAX_REVIEW_BYTES))
                .handler(context -> answer(context, handler));
        var options = new HttpServerOptions()
                .setSsl(true)
                .setUseAlpn(true)
                .setKeyCertOptions(KeyCertOptions.wrap(serving.keys()));
        if (!clientCa.isEmpty()) {
            options.setClientAuth(ClientAuth.REQUIRED).setTrustOptions(new PemTrustOptions().addCertPath(clientCa));
        }
        return BoundHttpServer.open(vertx, options, router, host, port, "GPUFLEET_WEBHOOK_PORT");
    }

    /** Before the body is read: a stranger costs no memory. */
    private void admitCaller(RoutingContext context) {
        String path = String.valueOf(context.request().path());
        if (proof.acceptsPathToken(path.substring(path.lastIndexOf('/') + 1))) {
            context.put(RECEIVED, System.nanoTime());
            context.next();
        } else {
            ProblemDetails.respond(
                    context, FORBIDDEN, "only the API server is answered, by the path in the webhook configuration");
        }
    }

    /**
     * The API server speaks HTTP/1.1 to webhooks, and never repeats a review: one that it sends on a connection which is
     * being closed is a pod that is refused.
     */
    private void announceEnd(RoutingContext context) {
        if (ending && context.request().version() == HttpVersion.HTTP_1_1) {
            context.response().putHeader("connection", "close");
        }
        context.next();
    }

    private static void answer(RoutingContext context, AdmissionReviewHandler handler) {
        Buffer body = context.body().buffer();
        long received = Objects.requireNonNullElseGet(context.<Long>get(RECEIVED), System::nanoTime);
        handler.handle(body == null ? new byte[0] : body.getBytes(), received)
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
            ProblemDetails.respond(context, BAD_REQUEST, message);
        } else {
            LOG.atWarn().addKeyValue("error", message).log("admission review not decided");
            ProblemDetails.respond(context, UNAVAILABLE, message);
        }
    }

    /** Answers for another second, ending each connection with its next answer; then closes what is left. */
    @Override
    public synchronized void close() throws Exception {
        BoundHttpServer opened = server;
        if (opened != null) {
            ending = true;
            vertx.timer(LEAVE.toMillis(), TimeUnit.MILLISECONDS)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get();
            opened.close();
        }
    }
}
