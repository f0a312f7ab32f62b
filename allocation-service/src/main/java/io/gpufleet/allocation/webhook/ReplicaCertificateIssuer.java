package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.ServingCertificate.ReplicaCertificate;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Issues the certificate by which this process proves itself to other replicas: by the CA that they share, for the host at
 * which they reach it. It stays in memory, and is replaced after two thirds of its life and when the CA is. For one thread.
 */
final class ReplicaCertificateIssuer {
    private static final Duration VALIDITY = Duration.ofDays(30);

    private record Issued(X509Certificate certificate, ReplicaCertificate pem) {}

    private final String host;
    private final Clock clock;
    private @Nullable Issued issued;

    ReplicaCertificateIssuer(String host, Clock clock) {
        this.host = host;
        this.clock = clock;
    }

    ReplicaCertificate obtain(String caPem, String caKeyPem) throws GeneralSecurityException, IOException {
        X509Certificate ca = X509.certificate(caPem);
        Issued known = issued;
        if (known == null
                || X509.dueForRenewal(known.certificate(), clock.instant())
                || !X509.signed(known.certificate(), ca)) {
            KeyPair keys = X509.newKeys();
            X509Certificate certificate =
                    X509.replica(ca, X509.key(caKeyPem), keys, host, new X509.Validity(clock.instant(), VALIDITY));
            known = new Issued(certificate, new ReplicaCertificate(X509.pem(certificate), X509.pem(keys.getPrivate())));
            issued = known;
        }
        return known.pem();
    }
}
