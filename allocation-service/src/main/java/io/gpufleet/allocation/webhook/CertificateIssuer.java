package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.CertificateSource;
import io.gpufleet.allocation.app.CertificateStore;
import io.gpufleet.allocation.app.ServingCertificate;
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

/**
 * Issues the CA and the certificate of the webhook: once for all replicas, which share them in a {@link
 * CertificateStore}, and again before they expire. A replica that may not store a new one serves the stored one while it
 * is valid.
 */
public final class CertificateIssuer implements CertificateSource {
    private static final String CA = "ca.crt";
    private static final String CA_KEY = "ca.key";
    private static final String CERTIFICATE = "tls.crt";
    private static final String KEY = "tls.key";
    private static final Duration CA_VALIDITY = Duration.ofDays(3650);
    private static final Duration VALIDITY = Duration.ofDays(365);
    private static final Duration RENEW_BEFORE = Duration.ofDays(60);

    private final CertificateStore store;
    private final Set<String> hosts;
    private final Clock clock;

    /** Issues certificates for a server that is called by these names and addresses. */
    public CertificateIssuer(CertificateStore store, Set<String> hosts, Clock clock) {
        this.store = store;
        this.hosts = Set.copyOf(hosts);
        this.clock = clock;
    }

    @Override
    public Optional<ServingCertificate> obtain() throws ApiServerException {
        Optional<CertificateStore.StoredCertificate> stored = store.load();
        Map<String, String> before =
                stored.map(CertificateStore.StoredCertificate::files).orElse(Map.of());
        Map<String, String> files = new TreeMap<>(before);
        try {
            boolean changed = renewCa(files);
            changed |= renewCertificate(files, changed);
            if (changed
                    && !store.save(
                            files,
                            stored.map(CertificateStore.StoredCertificate::resourceVersion)
                                    .orElse(""))) {
                return isValid(before) ? Optional.of(certificate(before)) : Optional.empty();
            }
        } catch (GeneralSecurityException | IOException failed) {
            throw new ApiServerException(
                    "the Secret gpufleet-webhook has no usable certificate; delete it and a new one is issued: "
                            + failed.getMessage(),
                    failed);
        }
        return Optional.of(certificate(files));
    }

    private static ServingCertificate certificate(Map<String, String> files) {
        return new ServingCertificate(file(files, CA), file(files, CERTIFICATE), file(files, KEY), file(files, CA_KEY));
    }

    /** True when the stored certificate names the hosts and has not expired. */
    private boolean isValid(Map<String, String> files) throws GeneralSecurityException, IOException {
        if (!files.keySet().containsAll(Set.of(CA, CA_KEY, CERTIFICATE, KEY))) {
            return false;
        }
        X509Certificate stored = X509.certificate(file(files, CERTIFICATE));
        return clock.instant().isBefore(stored.getNotAfter().toInstant())
                && X509.subjectAlternativeNames(stored).containsAll(hosts);
    }

    private boolean renewCa(Map<String, String> files) throws GeneralSecurityException, IOException {
        if (files.containsKey(CA)
                && files.containsKey(CA_KEY)
                && isValidLongEnough(X509.certificate(file(files, CA)))) {
            return false;
        }
        KeyPair keys = X509.newKeys();
        files.put(CA, X509.pem(X509.ca(keys, clock.instant(), CA_VALIDITY)));
        files.put(CA_KEY, X509.pem(keys.getPrivate()));
        return true;
    }

    private boolean renewCertificate(Map<String, String> files, boolean newCa)
            throws GeneralSecurityException, IOException {
        if (!newCa && files.containsKey(CERTIFICATE) && files.containsKey(KEY)) {
            X509Certificate now = X509.certificate(file(files, CERTIFICATE));
            if (isValidLongEnough(now) && X509.subjectAlternativeNames(now).containsAll(hosts)) {
                return false;
            }
        }
        KeyPair keys = X509.newKeys();
        X509Certificate ca = X509.certificate(file(files, CA));
        files.put(
                CERTIFICATE,
                X509.pem(X509.server(
                        ca, X509.key(file(files, CA_KEY)), keys, hosts, new X509.Validity(clock.instant(), VALIDITY))));
        files.put(KEY, X509.pem(keys.getPrivate()));
        return true;
    }

    private boolean isValidLongEnough(X509Certificate certificate) {
        Instant end = certificate.getNotAfter().toInstant();
        return clock.instant().plus(RENEW_BEFORE).isBefore(end);
    }

    private static String file(Map<String, String> files, String name) {
        return files.getOrDefault(name, "");
    }
}
