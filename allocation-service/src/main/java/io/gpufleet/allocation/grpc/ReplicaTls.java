package io.gpufleet.allocation.grpc;

import io.gpufleet.allocation.app.NewestCertificate;
import io.gpufleet.allocation.app.ServingCertificate;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.TrustOptions;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Clock;
import java.util.Base64;

/**
 * TLS between replicas: each shows the certificate that the CA in the webhook's Secret issued it, for the host at which it is
 * reached, and answers nobody else. A renewed certificate or CA counts from the next handshake on.
 */
public final class ReplicaTls {
    private static final String KEY_ALGORITHM = "EC";

    private final NewestCertificate own = new NewestCertificate();
    private final ReplicaTrust trust;

    /** Without a certificate, so that nobody is answered; {@code clock} tells whether those of others are valid. */
    public ReplicaTls(Clock clock) {
        this.trust = new ReplicaTrust(clock);
    }

    /** Takes over a renewed certificate or CA. */
    public void replace(ServingCertificate certificate) {
        try {
            var factory = CertificateFactory.getInstance("X.509");
            trust.replace(factory.generateCertificates(stream(certificate.caPem())));
            Certificate shown =
                    factory.generateCertificate(stream(certificate.replica().certificatePem()));
            own.replace((X509Certificate) shown, key(certificate.replica().keyPem()));
        } catch (GeneralSecurityException unusable) {
            throw new IllegalArgumentException(
                    "certificate of the replica cannot be read: " + unusable.getMessage(), unusable);
        }
    }

    private static ByteArrayInputStream stream(String pem) {
        return new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII));
    }

    private static PrivateKey key(String pem) throws GeneralSecurityException {
        String base64 = pem.replaceAll("-----[A-Z ]+-----", "");
        return KeyFactory.getInstance(KEY_ALGORITHM)
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(base64)));
    }

    /** Options of a server that answers replicas only. */
    HttpServerOptions server() {
        return new HttpServerOptions()
                .setSsl(true)
                .setUseAlpn(true)
                .setClientAuth(ClientAuth.REQUIRED)
                .setKeyCertOptions(KeyCertOptions.wrap(own))
                .setTrustOptions(TrustOptions.wrap(trust));
    }

    /** Options of a client that calls replicas only. */
    HttpClientOptions client() {
        return new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setSsl(true)
                .setUseAlpn(true)
                .setVerifyHost(true)
                .setKeyCertOptions(KeyCertOptions.wrap(own))
                .setTrustOptions(TrustOptions.wrap(trust));
    }
}
