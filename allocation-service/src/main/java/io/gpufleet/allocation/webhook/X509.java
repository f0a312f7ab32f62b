package io.gpufleet.allocation.webhook;

import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.CertificateAuthority.Purpose;
import io.gpufleet.kit.tls.CertificateAuthority.Validity;
import io.gpufleet.kit.tls.Pem;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.util.Set;

/** The certificates of the webhook and of the replicas. */
final class X509 {
    private static final String CA = "gpufleet webhook CA";
    private static final String SERVER = "gpufleet webhook";
    private static final String REPLICA = "gpufleet allocation-service replica";

    private X509() {}

    static CertificateAuthority ca(Validity validity) throws GeneralSecurityException {
        return CertificateAuthority.create(CA, validity);
    }

    /** A certificate by which the API server knows the webhook. */
    static X509Certificate server(CertificateAuthority ca, KeyPair keys, Set<String> hosts, Validity validity)
            throws GeneralSecurityException {
        return ca.issue(SERVER, hosts, Set.of(Purpose.SERVER), keys.getPublic(), validity);
    }

    /** A certificate by which replicas know each other, whichever of them calls. */
    static X509Certificate replica(CertificateAuthority ca, KeyPair keys, String host, Validity validity)
            throws GeneralSecurityException {
        return ca.issue(REPLICA, Set.of(host), Set.of(Purpose.SERVER, Purpose.CLIENT), keys.getPublic(), validity);
    }

    /** The CA of two PEM texts. */
    static CertificateAuthority ca(String certificatePem, String keyPem) throws GeneralSecurityException {
        return new CertificateAuthority(Pem.certificate(certificatePem), Pem.key(keyPem));
    }
}
