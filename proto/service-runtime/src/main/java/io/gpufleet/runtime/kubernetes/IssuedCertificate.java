package io.gpufleet.runtime.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.NewestCertificate;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate that this process issues to itself by the CA of the services; its key never leaves the process. Before the
 * CA can be read it is by a CA of the process alone: the kubelet's probes are answered, and no client trusts it. For one
 * thread.
 */
final class IssuedCertificate {
    private static final Logger LOG = LoggerFactory.getLogger(IssuedCertificate.class);
    private static final Duration VALIDITY = Duration.ofDays(30);

    /** Where the CA of the services is. */
    interface AuthoritySource {
        /** Reads the CA; the exception says why it cannot be read. */
        CertificateAuthority obtain() throws GeneralSecurityException;
    }

    private final AuthoritySource source;
    private final String name;
    private final Set<String> hosts;
    private final InstantSource clock;
    private final NewestCertificate newest = new NewestCertificate();
    private @Nullable CertificateAuthority authority;
    private boolean shared;
    private String problem = "";

    IssuedCertificate(AuthoritySource source, String name, Set<String> hosts, InstantSource clock) {
        this.source = source;
        this.name = name;
        this.hosts = Set.copyOf(hosts);
        this.clock = clock;
    }

    /** The certificate to show. */
    NewestCertificate certificate() {
        return newest;
    }

    /** True once the CA of the services was read. */
    boolean isShared() {
        return shared;
    }

    /** Reads the CA, and issues a certificate if there is none, or it is another CA, or two thirds of its life are over. */
    void renew() {
        try {
            CertificateAuthority present = present();
            X509Certificate shown = newest.certificate().orElse(null);
            if (shown == null || CertificateAuthority.dueForRenewal(shown, clock.instant()) || !present.signed(shown)) {
                KeyPair keys = CertificateAuthority.newKeys();
                var validity = new CertificateAuthority.Validity(clock.instant(), VALIDITY);
                newest.replace(
                        present.issue(
                                name, hosts, Set.of(CertificateAuthority.Purpose.SERVER), keys.getPublic(), validity),
                        keys.getPrivate());
                LOG.atInfo()
                        .addKeyValue("hosts", hosts)
                        .addKeyValue("ca", shared ? "shared" : "of this process")
                        .log("HTTP certificate issued");
            }
        } catch (GeneralSecurityException failed) {
            throw new IllegalStateException("the JDK cannot issue a certificate", failed);
        }
    }

    private CertificateAuthority present() throws GeneralSecurityException {
        try {
            authority = source.obtain();
            shared = true;
            problem = "";
        } catch (KubernetesClientException | GeneralSecurityException unreadable) {
            String reason = reason(unreadable);
            if (!reason.equals(problem)) {
                problem = reason;
                LOG.atWarn()
                        .addKeyValue("error", reason)
                        .log(
                                shared
                                        ? "HTTP CA cannot be read"
                                        : "HTTP CA cannot be read, clients do not trust this replica");
            }
        }
        CertificateAuthority known = authority;
        if (known == null) {
            known = CertificateAuthority.create(
                    "gpufleet, CA not read yet", new CertificateAuthority.Validity(clock.instant(), VALIDITY));
            authority = known;
        }
        return known;
    }

    /** One line for the log. */
    static String reason(Exception unreadable) {
        return unreadable instanceof KubernetesClientException
                ? ApiErrorMessage.of(unreadable)
                : String.valueOf(unreadable.getMessage());
    }
}
