package io.gpufleet.allocation.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.AdmissionProof;
import io.gpufleet.allocation.app.CertificateStore;
import io.gpufleet.allocation.app.ServingCertificate;
import io.gpufleet.testbed.kafka.FreePort;
import io.vertx.core.Vertx;
import java.math.BigInteger;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.Test;

/** The webhook serves the newest certificate without a restart. */
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

    private static final X509TrustManager TRUSTING = new X509TrustManager() {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    };

    private static ServingCertificate issue() throws Exception {
        return new CertificateIssuer(FORGETFUL, Set.of("127.0.0.1"), Clock.systemUTC())
                .obtain()
                .orElseThrow();
    }

    private static BigInteger served(int port) throws Exception {
        var context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {TRUSTING}, null);
        try (var socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port)) {
            socket.startHandshake();
            return ((X509Certificate) socket.getSession().getPeerCertificates()[0]).getSerialNumber();
        }
    }

    private static BigInteger serial(ServingCertificate certificate) throws Exception {
        return X509.certificate(certificate.certificatePem()).getSerialNumber();
    }

    private static Instant expiry(ServingCertificate certificate) throws Exception {
        return X509.certificate(certificate.certificatePem()).getNotAfter().toInstant();
    }

    @Test
    void renewedCertificateIsServedFromTheNextHandshakeOn() throws Exception {
        int port = FreePort.next();
        ServingCertificate first = issue();
        ServingCertificate renewed = issue();
        var vertx = Vertx.vertx();
        try (var server = new WebhookServer(
                vertx,
                review -> CompletableFuture.completedStage(review),
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
}
