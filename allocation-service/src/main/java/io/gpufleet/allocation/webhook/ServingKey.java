package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.ServingCertificate;
import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/** Certificate and key that the webhook serves; a handshake takes the newest, so that a renewal needs no restart. */
final class ServingKey extends X509ExtendedKeyManager {
    private static final String ALIAS = "webhook";

    private record Current(X509Certificate certificate, PrivateKey key) {}

    private volatile Current current;

    ServingKey(ServingCertificate certificate) {
        this.current = read(certificate);
    }

    /** Serves another certificate from the next handshake on. */
    void replace(ServingCertificate certificate) {
        current = read(certificate);
    }

    /** When the certificate that is served expires. */
    Instant expiry() {
        return current.certificate().getNotAfter().toInstant();
    }

    private static Current read(ServingCertificate certificate) {
        try {
            return new Current(X509.certificate(certificate.certificatePem()), X509.key(certificate.keyPem()));
        } catch (GeneralSecurityException | IOException unusable) {
            throw new IllegalArgumentException(
                    "webhook certificate cannot be read: " + unusable.getMessage(), unusable);
        }
    }

    private @Nullable String alias(String keyType) {
        return current.key().getAlgorithm().equals(keyType) ? ALIAS : null;
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return alias(keyType);
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return alias(keyType);
    }

    @Override
    public String[] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return new String[] {ALIAS};
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        return new X509Certificate[] {current.certificate()};
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return current.key();
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return null;
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return null;
    }
}
