package io.gpufleet.kit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.NewestCertificate;
import io.gpufleet.kit.tls.Pem;
import io.gpufleet.kit.tls.TrustedAuthorities;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@NullMarked
class BoundHttpServerIT {
    private static final CertificateAuthority.Validity VALIDITY =
            new CertificateAuthority.Validity(Instant.now(), Duration.ofDays(1));

    private final Vertx vertx = Vertx.vertx();
    private final HttpClient client = HttpClient.newHttpClient();

    @AfterEach
    void close() throws Exception {
        client.shutdownNow();
        vertx.close().toCompletionStage().toCompletableFuture().get();
    }

    @Test
    void readyzReportsWhyItIsNotReady() throws Exception {
        Router router = Router.router(vertx);
        OpsRoutes.mount(router, List::of, () -> List.of("own changelog is being read"), () -> "gpufleet_up 1\n");
        router.get("/wrong").handler(context -> ProblemDetails.respond(context, 422, "use another value"));
        try (var server = BoundHttpServer.open(vertx, router, "127.0.0.1", 0, "GPUFLEET_HTTP_PORT")) {
            assertThat(get(server, "/livez").statusCode()).isEqualTo(200);
            assertThat(get(server, "/readyz"))
                    .extracting(HttpResponse::statusCode, HttpResponse::body)
                    .containsExactly(503, "{\"ok\":false,\"reasons\":[\"own changelog is being read\"]}");
            assertThat(get(server, "/metrics").body()).isEqualTo("gpufleet_up 1\n");
            assertThat(get(server, "/wrong").statusCode()).isEqualTo(422);
            assertThat(get(server, "/wrong").headers().firstValue("content-type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("application/problem+json"));
            assertThat(get(server, "/wrong").body()).contains("use another value");
        }
    }

    @Test
    void largePageIsReadByAClientThatOffersHttp2() throws Exception {
        String page = "x".repeat(100_000);
        Router router = Router.router(vertx);
        router.get("/large").handler(context -> context.response().end(page));
        try (var server = BoundHttpServer.open(vertx, router, "127.0.0.1", 0, "GPUFLEET_HTTP_PORT")) {
            var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/large"))
                    .build();
            var response = client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
            assertThat(response.get(30, TimeUnit.SECONDS).body()).isEqualTo(page);
        }
    }

    @Test
    void portInUseIsReportedWithItsSetting() throws Exception {
        try (var server = BoundHttpServer.open(vertx, Router.router(vertx), "127.0.0.1", 0, "GPUFLEET_HTTP_PORT")) {
            assertThatThrownBy(() -> BoundHttpServer.open(
                            vertx, Router.router(vertx), "127.0.0.1", server.port(), "GPUFLEET_HTTP_PORT"))
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessageStartingWith("GPUFLEET_HTTP_PORT=" + server.port())
                    .hasMessageContaining("the port is in use");
        }
    }

    @Test
    void certificateIsTrustedByItsCaReplacedWithoutRestartAndClearTextIsRefused() throws Exception {
        var authority = CertificateAuthority.create("test CA", VALIDITY);
        var certificate = new NewestCertificate();
        Router router = Router.router(vertx);
        router.get("/livez").handler(context -> context.response().end("ok"));
        var tls = new ServerTls.On(certificate);
        try (var server = BoundHttpServer.open(vertx, tls.http(), router, "127.0.0.1", 0, "GPUFLEET_HTTP_PORT")) {
            show(certificate, authority);
            assertThat(secureGet(server, authority).body()).isEqualTo("ok");
            assertThat(secureGet(server, authority).version()).isEqualTo(HttpClient.Version.HTTP_1_1);
            assertThatThrownBy(() -> get(server, "/livez")).isInstanceOf(IOException.class);

            var other = CertificateAuthority.create("another CA", VALIDITY);
            assertThatThrownBy(() -> secureGet(server, other)).isInstanceOf(SSLHandshakeException.class);
            show(certificate, other);
            assertThat(secureGet(server, other).body()).isEqualTo("ok");
        }
    }

    private static void show(NewestCertificate certificate, CertificateAuthority authority) throws Exception {
        var keys = CertificateAuthority.newKeys();
        certificate.replace(
                authority.issue(
                        "a",
                        Set.of("127.0.0.1"),
                        Set.of(CertificateAuthority.Purpose.SERVER),
                        keys.getPublic(),
                        VALIDITY),
                keys.getPrivate());
    }

    private static HttpResponse<String> secureGet(BoundHttpServer server, CertificateAuthority trusted)
            throws Exception {
        try (var secure = HttpClient.newBuilder()
                .sslContext(TrustedAuthorities.tls(Pem.text(trusted.certificate())))
                .build()) {
            return secure.send(
                    HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + server.port() + "/livez"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    private HttpResponse<String> get(BoundHttpServer server, String path) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }
}
