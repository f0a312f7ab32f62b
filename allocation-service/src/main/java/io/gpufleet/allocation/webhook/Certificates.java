package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.CertificateStore;
import io.gpufleet.allocation.app.ClusterException;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Our own authority and the webhook's certificate: made once, shared by all replicas, renewed before they end. */
public final class Certificates {
    private static final String CA = "ca.crt";
    private static final String CA_KEY = "ca.key";
    private static final String CERTIFICATE = "tls.crt";
    private static final String KEY = "tls.key";
    private static final Duration CA_LIFE = Duration.ofDays(3650);
    private static final Duration LIFE = Duration.ofDays(365);
    private static final Duration REST = Duration.ofDays(60);

    private final CertificateStore store;
    private final Set<String> hosts;
    private final Clock clock;

    /** For a server that is called by these names and addresses. */
    public Certificates(CertificateStore store, Set<String> hosts, Clock clock) {
        this.store = store;
        this.hosts = Set.copyOf(hosts);
        this.clock = clock;
    }

    /** What to serve with: as stored, or made now and stored; nothing when another replica stored meanwhile. */
    public Optional<ServingCertificate> obtain() throws ClusterException {
        Optional<CertificateStore.Stored> stored = store.load();
        Map<String, String> files =
                new TreeMap<>(stored.map(CertificateStore.Stored::files).orElse(Map.of()));
        try {
            boolean changed = renewAuthority(files);
            changed |= renewCertificate(files, changed);
            if (changed
                    && !store.save(
                            files, stored.map(CertificateStore.Stored::version).orElse(""))) {
                return Optional.empty();
            }
        } catch (GeneralSecurityException | IOException failed) {
            throw new ClusterException(
                    "the Secret gpufleet-webhook holds no usable certificate; delete it, a new one is made: "
                            + failed.getMessage(),
                    failed);
        }
        return Optional.of(new ServingCertificate(file(files, CA), file(files, CERTIFICATE), file(files, KEY)));
    }

    private boolean renewAuthority(Map<String, String> files) throws GeneralSecurityException, IOException {
        if (files.containsKey(CA) && files.containsKey(CA_KEY) && lasts(X509.certificate(file(files, CA)))) {
            return false;
        }
        KeyPair keys = X509.newKeys();
        files.put(CA, X509.pem(X509.authority(keys, clock.instant(), CA_LIFE)));
        files.put(CA_KEY, X509.pem(keys.getPrivate()));
        return true;
    }

    private boolean renewCertificate(Map<String, String> files, boolean newAuthority)
            throws GeneralSecurityException, IOException {
        if (!newAuthority && files.containsKey(CERTIFICATE) && files.containsKey(KEY)) {
            X509Certificate now = X509.certificate(file(files, CERTIFICATE));
            if (lasts(now) && X509.names(now).containsAll(hosts)) {
                return false;
            }
        }
        KeyPair keys = X509.newKeys();
        X509Certificate authority = X509.certificate(file(files, CA));
        files.put(
                CERTIFICATE,
                X509.pem(X509.server(
                        authority, X509.key(file(files, CA_KEY)), keys, hosts, new X509.Life(clock.instant(), LIFE))));
        files.put(KEY, X509.pem(keys.getPrivate()));
        return true;
    }

    private boolean lasts(X509Certificate certificate) {
        Instant end = certificate.getNotAfter().toInstant();
        return clock.instant().plus(REST).isBefore(end);
    }

    private static String file(Map<String, String> files, String name) {
        return files.getOrDefault(name, "");
    }
}
