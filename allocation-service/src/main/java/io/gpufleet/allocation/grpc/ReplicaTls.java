package io.gpufleet.allocation.grpc;

import io.gpufleet.allocation.app.ServingCertificate;
import io.gpufleet.kit.tls.NewestCertificate;
import io.gpufleet.kit.tls.Pem;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.TrustOptions;
import java.security.GeneralSecurityException;
import java.time.Clock;

/**
 * TLS between replicas: each shows the certificate that the CA in the webhook's Secret issued it, for the host at which it is
 * reached, and answers nobody else. A renewed certificate or CA counts from the next handshake on.
 */
public final class ReplicaTls {
    private final NewestCertificate own = new NewestCertificate();
    private final ReplicaTrust trust;

    /** Without a certificate, so that nobody is answered; {@code clock} tells whether those of others are valid. */
    public ReplicaTls(Clock clock) {
        this.trust = new ReplicaTrust(clock);
    }

    /** Takes over a renewed certificate or CA. */
    public void replace(ServingCertificate certificate) {
        try {
            trust.replace(Pem.certificates(certificate.caPem()));
            own.replace(
                    Pem.certificate(certificate.replica().certificatePem()),
                    Pem.key(certificate.replica().keyPem()));
        } catch (GeneralSecurityException unusable) {
            throw new IllegalArgumentException(
                    "certificate of the replica cannot be read: " + unusable.getMessage(), unusable);
        }
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
