package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.ServingCertificate.ReplicaCertificate;
import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.Pem;
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

    ReplicaCertificate obtain(String caPem, String caKeyPem) throws GeneralSecurityException {
        CertificateAuthority ca = X509.ca(caPem, caKeyPem);
        Issued known = issued;
        if (known == null
                || CertificateAuthority.dueForRenewal(known.certificate(), clock.instant())
                || !ca.signed(known.certificate())) {
            KeyPair keys = CertificateAuthority.newKeys();
            X509Certificate certificate =
                    X509.replica(ca, keys, host, new CertificateAuthority.Validity(clock.instant(), VALIDITY));
            known = new Issued(certificate, new ReplicaCertificate(Pem.text(certificate), Pem.text(keys.getPrivate())));
            issued = known;
        }
        return known.pem();
    }
}
