package io.gpufleet.allocation.grpc;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** Trusts what one of the present CAs signed, by the rules of the JDK and a given clock; a handshake takes the newest CAs. */
final class ReplicaTrust extends X509ExtendedTrustManager {
    private final Clock clock;
    private volatile List<Certificate> authorities = List.of();

    ReplicaTrust(Clock clock) {
        this.clock = clock;
    }

    /** Trusts other CAs from the next handshake on. */
    void replace(Collection<? extends Certificate> trusted) {
        authorities = List.copyOf(trusted);
    }

    private X509ExtendedTrustManager now() throws CertificateException {
        List<Certificate> trusted = authorities;
        if (trusted.isEmpty()) {
            throw new CertificateException("this replica has no CA yet");
        }
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (Certificate authority : trusted) {
                store.setCertificateEntry("ca-" + store.size(), authority);
            }
            var parameters = new PKIXBuilderParameters(store, new X509CertSelector());
            parameters.setRevocationEnabled(false);
            parameters.setDate(Date.from(clock.instant()));
            var factory = TrustManagerFactory.getInstance("PKIX");
            factory.init(new CertPathTrustManagerParameters(parameters));
            return Arrays.stream(factory.getTrustManagers())
                    .filter(X509ExtendedTrustManager.class::isInstance)
                    .map(X509ExtendedTrustManager.class::cast)
                    .findFirst()
                    .orElseThrow();
        } catch (GeneralSecurityException | IOException unusable) {
            throw new CertificateException("the CA of the replicas cannot be used", unusable);
        }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        now().checkClientTrusted(chain, authType, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        now().checkServerTrusted(chain, authType, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        now().checkClientTrusted(chain, authType, socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        now().checkServerTrusted(chain, authType, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        now().checkClientTrusted(chain, authType);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        now().checkServerTrusted(chain, authType);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        // None are named to the caller: it has one certificate only, and shows it.
        return new X509Certificate[0];
    }
}
