package io.gpufleet.kit.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Certificate and key of this end of a TLS connection; a handshake takes the newest, so that a renewal needs no restart.
 * Before the first one every handshake fails.
 */
public final class NewestCertificate extends X509ExtendedKeyManager {
    private static final String ALIAS = "newest";

    private record Current(List<X509Certificate> chain, PrivateKey key) {}

    private volatile @Nullable Current current;

    /** Shows another certificate from the next handshake on. */
    public void replace(X509Certificate certificate, PrivateKey key) {
        replace(List.of(certificate), key);
    }

    /** Shows another certificate, the first, with those of its issuers. */
    public void replace(List<X509Certificate> chain, PrivateKey key) {
        current = new Current(List.copyOf(chain), key);
    }

    /** The certificate that is shown; empty before the first. */
    public Optional<X509Certificate> certificate() {
        return Optional.ofNullable(current).map(shown -> shown.chain().getFirst());
    }

    private @Nullable String alias(String... keyTypes) {
        Current shown = current;
        if (shown != null) {
            for (String keyType : keyTypes) {
                if (shown.key().getAlgorithm().equals(keyType)) {
                    return ALIAS;
                }
            }
        }
        return null;
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return alias(keyType);
    }

    @Override
    public @Nullable String chooseEngineClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return alias(keyTypes);
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return alias(keyType);
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return alias(keyTypes);
    }

    @Override
    public String[] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return new String[] {ALIAS};
    }

    @Override
    public String[] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return new String[] {ALIAS};
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        Current shown = current;
        return shown == null ? null : shown.chain().toArray(X509Certificate[]::new);
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
        Current shown = current;
        return shown == null ? null : shown.key();
    }
}
