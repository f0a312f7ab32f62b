package io.gpufleet.allocation.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.CertificateStore;
import io.gpufleet.allocation.app.ServingCertificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Certificate of the webhook: issued once, shared, renewed before it expires, valid for its host names. */
class CertificateIssuerTest {
    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");

    private final InMemoryCertificateStore store = new InMemoryCertificateStore();

    /** Store in memory. */
    private static final class InMemoryCertificateStore implements CertificateStore {
        private Optional<StoredCertificate> stored = Optional.empty();
        private int saves;
        private boolean writable = true;

        @Override
        public Optional<StoredCertificate> load() {
            return stored;
        }

        @Override
        public boolean save(Map<String, String> files, String version) {
            if (!writable
                    || !version.equals(
                            stored.map(StoredCertificate::resourceVersion).orElse(""))) {
                return false;
            }
            saves++;
            stored = Optional.of(new StoredCertificate(Map.copyOf(files), Integer.toString(saves)));
            return true;
        }
    }

    private ServingCertificate at(Instant now, String... hosts) throws Exception {
        return obtain(now, hosts).orElseThrow();
    }

    private Optional<ServingCertificate> obtain(Instant now, String... hosts) throws Exception {
        return new CertificateIssuer(store, Set.of(hosts), Clock.fixed(now, ZoneOffset.UTC)).obtain();
    }

    @Test
    void certificateIsSignedByCaAndNamesTheHosts() throws Exception {
        ServingCertificate issued = at(NOW, "127.0.0.1", "allocation-service.gpufleet-system.svc");
        var certificate = X509.certificate(issued.certificatePem());
        certificate.verify(X509.certificate(issued.caPem()).getPublicKey());
        assertThat(X509.subjectAlternativeNames(certificate))
                .containsExactly("127.0.0.1", "allocation-service.gpufleet-system.svc");
        assertThat(issued.toString()).doesNotContain("PRIVATE");
    }

    @Test
    void anotherReplicaServesSameCertificate() throws Exception {
        ServingCertificate first = at(NOW, "a.svc");
        assertThat(at(NOW.plus(Duration.ofDays(30)), "a.svc")).isEqualTo(first);
        assertThat(store.saves).isEqualTo(1);
    }

    @Test
    void certificateNearExpiryIsRenewedBySameCa() throws Exception {
        ServingCertificate first = at(NOW, "a.svc");
        ServingCertificate next = at(NOW.plus(Duration.ofDays(310)), "a.svc");
        assertThat(next.certificatePem()).isNotEqualTo(first.certificatePem());
        assertThat(next.caPem()).isEqualTo(first.caPem());
    }

    @Test
    void replicaThatMayNotStoreACertificateWaitsForTheFirst() throws Exception {
        store.writable = false;
        assertThat(obtain(NOW, "a.svc")).isEmpty();
        assertThat(store.saves).isZero();
    }

    @Test
    void replicaThatMayNotStoreACertificateServesTheStoredOneWhileItIsValid() throws Exception {
        ServingCertificate first = at(NOW, "a.svc");
        store.writable = false;
        assertThat(obtain(NOW.plus(Duration.ofDays(310)), "a.svc")).contains(first);
        assertThat(obtain(NOW.plus(Duration.ofDays(366)), "a.svc")).isEmpty();
        assertThat(obtain(NOW, "b.svc")).isEmpty();
    }

    @Test
    void missingHostNameRenewsCertificate() throws Exception {
        at(NOW, "a.svc");
        assertThat(X509.subjectAlternativeNames(
                        X509.certificate(at(NOW, "b.svc").certificatePem())))
                .containsExactly("b.svc");
    }
}
