package io.gpufleet.kit.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The CAs that a client trusts, and no others. */
public final class TrustedAuthorities {
    private TrustedAuthorities() {}

    /** TLS of a client that trusts the CAs of a PEM text only. */
    public static SSLContext tls(String pem) throws GeneralSecurityException {
        try {
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            for (X509Certificate authority : Pem.certificates(pem)) {
                trusted.setCertificateEntry("ca-" + trusted.size(), authority);
            }
            var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers.getTrustManagers(), null);
            return context;
        } catch (IOException impossible) {
            throw new GeneralSecurityException("an empty key store cannot be made", impossible);
        }
    }
}
