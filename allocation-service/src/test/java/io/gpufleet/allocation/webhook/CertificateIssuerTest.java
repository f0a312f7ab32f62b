package io.gpufleet.allocation.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.CertificateStore;
import io.gpufleet.allocation.app.ServingCertificate;
import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.Pem;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        return new CertificateIssuer(store, Set.of(hosts), "10.0.0.7", Clock.fixed(now, ZoneOffset.UTC)).obtain();
    }

    @Test
    void certificateIsSignedByCaAndNamesTheHosts() throws Exception {
        ServingCertificate issued = at(NOW, "127.0.0.1", "allocation-service.gpufleet-system.svc");
        var certificate = Pem.certificate(issued.certificatePem());
        certificate.verify(Pem.certificate(issued.caPem()).getPublicKey());
        assertThat(CertificateAuthority.hosts(certificate))
                .containsExactly("127.0.0.1", "allocation-service.gpufleet-system.svc");
        assertThat(issued.toString()).doesNotContain("PRIVATE");
    }

    @Test
    void anotherReplicaServesSameCertificate() throws Exception {
        ServingCertificate first = at(NOW, "a.svc");
        ServingCertificate other = at(NOW.plus(Duration.ofDays(30)), "a.svc");
        assertThat(other).usingRecursiveComparison().ignoringFields("replica").isEqualTo(first);
        assertThat(other.replica()).isNotEqualTo(first.replica());
        assertThat(store.saves).isEqualTo(1);
    }

    @Test
    void replicaGetsACertificateOfItsHostThatServesAndCalls() throws Exception {
        ServingCertificate issued = at(NOW, "a.svc");
        var certificate = Pem.certificate(issued.replica().certificatePem());
        certificate.verify(Pem.certificate(issued.caPem()).getPublicKey());
        assertThat(CertificateAuthority.hosts(certificate)).containsExactly("10.0.0.7");
        assertThat(certificate.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2");
        assertThat(Pem.certificate(issued.certificatePem()).getExtendedKeyUsage())
                .containsExactly("1.3.6.1.5.5.7.3.1");
    }

    @ParameterizedTest
    @CsvSource({"19, false", "21, true"})
    void certificateOfAReplicaIsReplacedAfterTwoThirdsOfItsLife(int days, boolean replaced) throws Exception {
        var now = new AtomicReference<>(NOW);
        InstantSource time = now::get;
        var issuer = new CertificateIssuer(store, Set.of("a.svc"), "10.0.0.7", time.withZone(ZoneOffset.UTC));
        ServingCertificate first = issuer.obtain().orElseThrow();
        now.set(NOW.plus(Duration.ofDays(days)));
        assertThat(!issuer.obtain().orElseThrow().replica().equals(first.replica()))
                .isEqualTo(replaced);
    }

    @Test
    void certificateNearExpiryIsRenewedBySameCa() throws Exception {
        ServingCertificate first = at(NOW, "a.svc");
        ServingCertificate next = at(NOW.plus(Duration.ofDays(310)), "a.svc");
        assertThat(next.certificatePem()).isNotEqualTo(first.certificatePem());
        assertThat(next.caPem()).isEqualTo(first.caPem());
    }

    @ParameterizedTest
    @CsvSource({"242, false", "243, true"})
    void certificateIsRenewedAfterTwoThirdsOfItsLife(int days, boolean renewed) throws Exception {
        ServingCertificate first = at(NOW, "a.svc");
        assertThat(!at(NOW.plus(Duration.ofDays(days)), "a.svc")
                        .certificatePem()
                        .equals(first.certificatePem()))
                .isEqualTo(renewed);
    }

    @Test
    void deletedSecretIsRestoredWithWhatIsServed() throws Exception {
        var issuer = new CertificateIssuer(store, Set.of("a.svc"), "10.0.0.7", Clock.fixed(NOW, ZoneOffset.UTC));
        ServingCertificate first = issuer.obtain().orElseThrow();
        var stored = store.stored.orElseThrow().files();
        store.stored = Optional.empty();
        // When a standby finds no Secret, and then the leader
        store.writable = false;
        assertThat(issuer.obtain()).contains(first);
        store.writable = true;
        assertThat(issuer.obtain()).contains(first);
        // Then
        assertThat(store.stored.orElseThrow().files()).isEqualTo(stored);
    }

    @Test
    void renewedCaIsTrustedForADayBeforeItIsUsedAndTheFormerOneForADayAfter() throws Exception {
        ServingCertificate first = at(NOW, "a.svc");
        Instant renewal = NOW.plus(Duration.ofDays(2_434));
        // When
        ServingCertificate waiting = at(renewal, "a.svc");
        ServingCertificate used = at(renewal.plus(Duration.ofHours(25)), "a.svc");
        ServingCertificate alone = at(renewal.plus(Duration.ofHours(49)), "a.svc");
        // Then
        assertThat(waiting.caPem())
                .startsWith(first.caPem())
                .hasSizeGreaterThan(first.caPem().length());
        assertThat(CertificateAuthority.signed(
                        Pem.certificate(waiting.certificatePem()), Pem.certificate(first.caPem())))
                .isTrue();
        assertThat(CertificateAuthority.signed(Pem.certificate(used.certificatePem()), Pem.certificate(used.caPem())))
                .isTrue();
        assertThat(waiting.caPem()).isEqualTo(first.caPem() + alone.caPem());
        assertThat(used.caPem()).isEqualTo(alone.caPem() + first.caPem());
        assertThat(alone.proofKey()).isEqualTo(first.proofKey());
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
        assertThat(obtain(NOW.plus(Duration.ofDays(310)), "a.svc").map(ServingCertificate::certificatePem))
                .contains(first.certificatePem());
        assertThat(obtain(NOW.plus(Duration.ofDays(366)), "a.svc")).isEmpty();
        assertThat(obtain(NOW, "b.svc")).isEmpty();
    }

    @Test
    void missingHostNameRenewsCertificate() throws Exception {
        at(NOW, "a.svc");
        assertThat(CertificateAuthority.hosts(Pem.certificate(at(NOW, "b.svc").certificatePem())))
                .containsExactly("b.svc");
    }
}
