package io.gpufleet.allocation.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpufleet.allocation.app.AdmissionProof;
import io.gpufleet.allocation.app.CertificateStore;
import io.gpufleet.allocation.app.ServingCertificate;
import io.gpufleet.kit.tls.NewestCertificate;
import io.gpufleet.kit.tls.Pem;
import io.gpufleet.testbed.kafka.FreePort;
import io.vertx.core.Vertx;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The webhook serves the newest certificate without a restart, and ends without a refused review. */
class WebhookServerIT {
    /** A store that forgets, so that every certificate is a new one. */
    private static final CertificateStore FORGETFUL = new CertificateStore() {
        @Override
        public Optional<StoredCertificate> load() {
            return Optional.empty();
        }

        @Override
        public boolean save(Map<String, String> files, String resourceVersion) {
            return true;
        }
    };

    /** Trusts every certificate, for every name. */
    private static final X509ExtendedTrustManager TRUSTING = new X509ExtendedTrustManager() {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    };

    private static ServingCertificate issue() throws Exception {
        return new CertificateIssuer(FORGETFUL, Set.of("127.0.0.1"), "127.0.0.1", Clock.systemUTC())
                .obtain()
                .orElseThrow();
    }

    private static BigInteger served(int port) throws Exception {
        try (var socket = (SSLSocket) trusting().getSocketFactory().createSocket("127.0.0.1", port)) {
            socket.startHandshake();
            return ((X509Certificate) socket.getSession().getPeerCertificates()[0]).getSerialNumber();
        }
    }

    private static SSLContext trusting() throws Exception {
        var context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {TRUSTING}, null);
        return context;
    }

    private static BigInteger serial(ServingCertificate certificate) throws Exception {
        return Pem.certificate(certificate.certificatePem()).getSerialNumber();
    }

    private static Instant expiry(ServingCertificate certificate) throws Exception {
        return Pem.certificate(certificate.certificatePem()).getNotAfter().toInstant();
    }

    @Test
    void renewedCertificateIsServedFromTheNextHandshakeOn() throws Exception {
        int port = FreePort.next();
        ServingCertificate first = issue();
        ServingCertificate renewed = issue();
        var vertx = Vertx.vertx();
        try (var server = new WebhookServer(
                vertx,
                (review, received) -> CompletableFuture.completedStage(review),
                new AdmissionProof(Clock.systemUTC()),
                "127.0.0.1",
                port)) {
            assertThat(server.certificateExpiry()).isEmpty();
            server.serve(first);
            assertThat(served(port)).isEqualTo(serial(first));
            // When
            server.serve(renewed);
            // Then
            assertThat(served(port)).isEqualTo(serial(renewed));
            assertThat(server.certificateExpiry()).contains(expiry(renewed));
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void reviewInFlightIsAnsweredBeforeTheServerEnds(HttpClient.Version version) throws Exception {
        int port = FreePort.next();
        var proof = new AdmissionProof(Clock.systemUTC());
        var begun = new CompletableFuture<byte[]>();
        var decided = new CompletableFuture<byte[]>();
        var vertx = Vertx.vertx();
        var server = new WebhookServer(
                vertx,
                (review, received) -> {
                    begun.complete(review);
                    return decided;
                },
                proof,
                "127.0.0.1",
                port);
        try (HttpClient client =
                HttpClient.newBuilder().sslContext(trusting()).version(version).build()) {
            // Given
            server.serve(issue());
            URI path = URI.create("https://127.0.0.1:" + port + "/admit/" + proof.pathToken());
            var answer = client.sendAsync(
                    HttpRequest.newBuilder(path)
                            .POST(HttpRequest.BodyPublishers.ofString("review"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            begun.join();

            // When
            var closed = CompletableFuture.runAsync(() -> closeQuietly(server));
            await().until(() -> !accepts(port));
            decided.complete("allowed".getBytes(StandardCharsets.UTF_8));

            // Then
            assertThat(answer.join().body()).isEqualTo("allowed");
            closed.join();
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    @Test
    void callerLeavesTheEndingServerByItsAnswer() throws Exception {
        int port = FreePort.next();
        var proof = new AdmissionProof(Clock.systemUTC());
        var vertx = Vertx.vertx();
        var server = new WebhookServer(
                vertx, (review, received) -> CompletableFuture.completedStage(review), proof, "127.0.0.1", port);
        try (HttpClient client = HttpClient.newBuilder()
                .sslContext(trusting())
                .version(HttpClient.Version.HTTP_1_1)
                .build()) {
            // Given
            server.serve(issue());
            var review = HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + "/admit/" + proof.pathToken()))
                    .POST(HttpRequest.BodyPublishers.ofString("review"))
                    .build();
            assertThat(connection(client, review)).isEmpty();

            // When
            var closed = CompletableFuture.runAsync(() -> closeQuietly(server));

            // Then no review is refused before one is told to use another connection
            await().until(() -> connection(client, review).equals("close"));
            closed.join();
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    @Test
    void callerWithoutTheCertificateOfTheApiServerIsNotAnswered(@TempDir Path directory) throws Exception {
        int port = FreePort.next();
        var proof = new AdmissionProof(Clock.systemUTC());
        ServingCertificate ofApiServer = issue();
        Path clientCa = Files.writeString(directory.resolve("client-ca.pem"), ofApiServer.caPem());
        var vertx = Vertx.vertx();
        try (var server = new WebhookServer(
                vertx,
                (review, received) -> CompletableFuture.completedStage(review),
                proof,
                "127.0.0.1",
                port,
                clientCa.toString())) {
            server.serve(issue());
            var review = HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + "/admit/" + proof.pathToken()))
                    .POST(HttpRequest.BodyPublishers.ofString("review"))
                    .build();
            // Then, although they know the path
            for (SSLContext stranger : List.of(trusting(), showing(issue()))) {
                try (HttpClient client =
                        HttpClient.newBuilder().sslContext(stranger).build()) {
                    assertThatThrownBy(() -> client.send(review, HttpResponse.BodyHandlers.ofString()))
                            .isInstanceOf(IOException.class);
                }
            }
            try (HttpClient client =
                    HttpClient.newBuilder().sslContext(showing(ofApiServer)).build()) {
                assertThat(client.send(review, HttpResponse.BodyHandlers.ofString())
                                .body())
                        .isEqualTo("review");
            }
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    @Test
    void reviewOfMoreThanFourMebibytesIsRefusedUnread() throws Exception {
        int port = FreePort.next();
        var proof = new AdmissionProof(Clock.systemUTC());
        var lengths = new ConcurrentLinkedQueue<Integer>();
        var vertx = Vertx.vertx();
        try (var server = new WebhookServer(
                        vertx,
                        (review, received) -> {
                            lengths.add(review.length);
                            return CompletableFuture.completedStage("decided".getBytes(StandardCharsets.UTF_8));
                        },
                        proof,
                        "127.0.0.1",
                        port);
                HttpClient client = HttpClient.newBuilder()
                        .sslContext(trusting())
                        .version(HttpClient.Version.HTTP_1_1)
                        .build()) {
            server.serve(issue());
            URI path = URI.create("https://127.0.0.1:" + port + "/admit/" + proof.pathToken());
            int limit = 4 * 1024 * 1024;

            // Then, whether the length is said before or not
            assertThat(status(client, path, BodyPublishers.ofByteArray(new byte[limit + 1])))
                    .isEqualTo(413);
            assertThat(status(
                            client,
                            path,
                            BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(new byte[limit + 1]))))
                    .isEqualTo(413);
            assertThat(status(client, path, BodyPublishers.ofByteArray(new byte[limit])))
                    .isEqualTo(200);
            assertThat(lengths).containsExactly(limit);
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    private static int status(HttpClient client, URI path, HttpRequest.BodyPublisher body)
            throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(path).POST(body).build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    /** A caller with the certificate of a replica, which is one for clients. */
    private static SSLContext showing(ServingCertificate issued) throws Exception {
        var shown = new NewestCertificate();
        shown.replace(
                Pem.certificate(issued.replica().certificatePem()),
                Pem.key(issued.replica().keyPem()));
        var context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {shown}, new TrustManager[] {TRUSTING}, null);
        return context;
    }

    private static String connection(HttpClient client, HttpRequest review) throws IOException, InterruptedException {
        return client.send(review, HttpResponse.BodyHandlers.ofString())
                .headers()
                .firstValue("connection")
                .orElse("");
    }

    private static boolean accepts(int port) {
        try (var _ = new Socket("127.0.0.1", port)) {
            return true;
        } catch (IOException refused) {
            return false;
        }
    }

    private static void closeQuietly(WebhookServer server) {
        try {
            server.close();
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }
}
