package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.CertificateSource;
import io.gpufleet.allocation.app.CertificateStore;
import io.gpufleet.allocation.app.ServingCertificate;
import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.Pem;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Issues the CA and the certificate of the webhook: once for all replicas, which share them in a {@link
 * CertificateStore}, and again after two thirds of their life. A replica that may not store a new one serves the stored
 * one while it is valid; a Secret that was deleted is restored with what is served. For one thread.
 */
public final class CertificateIssuer implements CertificateSource {
    private static final String CERTIFICATE = "tls.crt";
    private static final String KEY = "tls.key";
    private static final Duration VALIDITY = Duration.ofDays(365);

    private final CertificateStore store;
    private final Set<String> hosts;
    private final Clock clock;
    private final ReplicaCertificateIssuer replica;
    /** Files that this replica serves: restored where the Secret was deleted. */
    private Map<String, String> served = Map.of();

    /**
     * Issues certificates for a server that is called by these names and addresses, and for a replica that others reach at
     * {@code replicaHost}.
     */
    public CertificateIssuer(CertificateStore store, Set<String> hosts, String replicaHost, Clock clock) {
        this.store = store;
        this.hosts = Set.copyOf(hosts);
        this.clock = clock;
        this.replica = new ReplicaCertificateIssuer(replicaHost, clock);
    }

    @Override
    public Optional<ServingCertificate> obtain() throws ApiServerException {
        Optional<CertificateStore.StoredCertificate> stored = store.load();
        Map<String, String> before =
                stored.map(CertificateStore.StoredCertificate::files).orElse(served);
        Map<String, String> files = new TreeMap<>(before);
        try {
            new AuthorityFiles(files).renew(clock.instant());
            renewCertificate(files);
            boolean saved = stored.isPresent() && files.equals(before)
                    || store.save(
                            files,
                            stored.map(CertificateStore.StoredCertificate::resourceVersion)
                                    .orElse(""));
            if (!saved && !isValid(before)) {
                return Optional.empty();
            }
            served = saved ? files : before;
            return Optional.of(new ServingCertificate(
                    AuthorityFiles.bundle(served),
                    file(served, CERTIFICATE),
                    file(served, KEY),
                    AuthorityFiles.proofKey(served),
                    replica.obtain(file(served, AuthorityFiles.CERTIFICATE), file(served, AuthorityFiles.KEY))));
        } catch (GeneralSecurityException failed) {
            throw new ApiServerException(
                    "the Secret gpufleet-webhook has no usable certificate; delete it and a new one is issued: "
                            + failed.getMessage(),
                    failed);
        }
    }

    /** True when the stored certificate names the hosts and has not expired. */
    private boolean isValid(Map<String, String> files) throws GeneralSecurityException {
        if (!files.keySet().containsAll(Set.of(AuthorityFiles.CERTIFICATE, AuthorityFiles.KEY, CERTIFICATE, KEY))) {
            return false;
        }
        X509Certificate stored = Pem.certificate(file(files, CERTIFICATE));
        return clock.instant().isBefore(stored.getNotAfter().toInstant())
                && CertificateAuthority.hosts(stored).containsAll(hosts);
    }

    private void renewCertificate(Map<String, String> files) throws GeneralSecurityException {
        CertificateAuthority ca = X509.ca(file(files, AuthorityFiles.CERTIFICATE), file(files, AuthorityFiles.KEY));
        if (isValid(files)) {
            X509Certificate now = Pem.certificate(file(files, CERTIFICATE));
            if (!CertificateAuthority.dueForRenewal(now, clock.instant()) && ca.signed(now)) {
                return;
            }
        }
        KeyPair keys = CertificateAuthority.newKeys();
        files.put(
                CERTIFICATE,
                Pem.text(X509.server(ca, keys, hosts, new CertificateAuthority.Validity(clock.instant(), VALIDITY))));
        files.put(KEY, Pem.text(keys.getPrivate()));
    }

    private static String file(Map<String, String> files, String name) {
        return files.getOrDefault(name, "");
    }
}
