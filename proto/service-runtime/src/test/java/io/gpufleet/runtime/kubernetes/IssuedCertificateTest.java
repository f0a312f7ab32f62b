package io.gpufleet.runtime.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.CertificateAuthority.Validity;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The certificate of one process over the life of the CA that it reads. */
class IssuedCertificateTest {
    private static final Instant START = Instant.parse("2026-11-20T12:00:00Z");
    private static final Set<String> HOSTS = Set.of("10.0.0.7", "inventory-service");

    private Instant now = START;
    private CertificateAuthority stored = authority();
    private boolean readable = true;
    private final IssuedCertificate issued = new IssuedCertificate(this::read, "inventory-service", HOSTS, () -> now);

    private static CertificateAuthority authority() {
        try {
            return CertificateAuthority.create("test CA", new Validity(START, Duration.ofDays(3650)));
        } catch (GeneralSecurityException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private CertificateAuthority read() {
        if (!readable) {
            throw new KubernetesClientException("secrets \"gpufleet-ca\" is forbidden");
        }
        return stored;
    }

    private X509Certificate renewed() {
        issued.renew();
        return issued.certificate().certificate().orElseThrow();
    }

    @Test
    void certificateIsByTheCaForTheHosts() throws Exception {
        X509Certificate certificate = renewed();

        assertThat(stored.signed(certificate)).isTrue();
        assertThat(CertificateAuthority.hosts(certificate)).isEqualTo(HOSTS);
        assertThat(issued.isShared()).isTrue();
    }

    @Test
    void certificateStaysUntilTwoThirdsOfItsLifeAreOver() {
        X509Certificate first = renewed();
        now = START.plus(Duration.ofDays(19));
        assertThat(renewed()).isEqualTo(first);
        now = START.plus(Duration.ofDays(21));
        assertThat(renewed()).isNotEqualTo(first);
    }

    @Test
    void anotherCaReplacesTheCertificateAtOnce() {
        renewed();
        stored = authority();

        assertThat(stored.signed(renewed())).isTrue();
    }

    @Test
    void beforeTheCaIsReadableProbesAreAnsweredByACertificateThatNobodyTrusts() {
        readable = false;
        X509Certificate first = renewed();
        assertThat(stored.signed(first)).isFalse();
        assertThat(renewed()).isEqualTo(first);
        assertThat(issued.isShared()).isFalse();

        readable = true;
        assertThat(stored.signed(renewed())).isTrue();
        assertThat(issued.isShared()).isTrue();
    }

    @Test
    void whileTheApiServerIsAwayTheKnownCaIssuesTheNextOne() {
        renewed();
        readable = false;
        now = START.plus(Duration.ofDays(25));
        X509Certificate next = renewed();

        assertThat(stored.signed(next)).isTrue();
        assertThat(next.getNotAfter().toInstant()).isEqualTo(now.plus(Duration.ofDays(30)));
    }

    @Test
    void hostsAreThoseOfServiceReplicasPodAndForwardedPort() {
        assertThat(ServiceTls.hosts("health-service", "gpufleet-system"))
                .contains(
                        "localhost",
                        "127.0.0.1",
                        "health-service.gpufleet-system",
                        "health-service.gpufleet-system.svc.cluster.local",
                        "*.health-service-replicas.gpufleet-system.svc");
    }
}
