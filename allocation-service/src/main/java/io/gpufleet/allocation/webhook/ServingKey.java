package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.ServingCertificate;
import io.gpufleet.kit.tls.NewestCertificate;
import io.gpufleet.kit.tls.Pem;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.Optional;
import javax.net.ssl.X509KeyManager;

/** Certificate and key that the webhook serves. */
final class ServingKey {
    private final NewestCertificate newest = new NewestCertificate();

    ServingKey(ServingCertificate certificate) {
        replace(certificate);
    }

    /** Serves another certificate from the next handshake on. */
    void replace(ServingCertificate certificate) {
        try {
            newest.replace(Pem.certificate(certificate.certificatePem()), Pem.key(certificate.keyPem()));
        } catch (GeneralSecurityException unusable) {
            throw new IllegalArgumentException(
                    "webhook certificate cannot be read: " + unusable.getMessage(), unusable);
        }
    }

    /** When the certificate that is served expires. */
    Optional<Instant> expiry() {
        return newest.certificate().map(certificate -> certificate.getNotAfter().toInstant());
    }

    X509KeyManager keys() {
        return newest;
    }
}
