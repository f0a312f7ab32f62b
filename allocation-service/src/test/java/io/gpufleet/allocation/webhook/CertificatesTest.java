package io.gpufleet.allocation.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.CertificateStore;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The webhook's certificate: made once, shared, renewed before its end, good for the names it is called by. */
class CertificatesTest {
    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");

    private final MemoryStore store = new MemoryStore();

    /** A Secret in memory. */
    private static final class MemoryStore implements CertificateStore {
        private Optional<Stored> stored = Optional.empty();
        private int saves;

        @Override
        public Optional<Stored> load() {
            return stored;
        }

        @Override
        public boolean save(Map<String, String> files, String version) {
            if (!version.equals(stored.map(Stored::version).orElse(""))) {
                return false;
            }
            saves++;
            stored = Optional.of(new Stored(Map.copyOf(files), Integer.toString(saves)));
            return true;
        }
    }

    private ServingCertificate at(Instant now, String... hosts) throws Exception {
        return new Certificates(store, Set.of(hosts), Clock.fixed(now, ZoneOffset.UTC))
                .obtain()
                .orElseThrow();
    }

    @Test
    void theCertificateIsSignedByTheAuthorityAndNamesTheHosts() throws Exception {
        ServingCertificate made = at(NOW, "127.0.0.1", "allocation-service.gpufleet-system.svc");
        var certificate = X509.certificate(made.certificatePem());
        certificate.verify(X509.certificate(made.caPem()).getPublicKey());
        assertThat(X509.names(certificate)).containsExactly("127.0.0.1", "allocation-service.gpufleet-system.svc");
        assertThat(made.toString()).doesNotContain("PRIVATE");
    }

    @Test
    void anotherReplicaServesWithTheSame() throws Exception {
        ServingCertificate first = at(NOW, "a.svc");
        assertThat(at(NOW.plus(Duration.ofDays(30)), "a.svc")).isEqualTo(first);
        assertThat(store.saves).isEqualTo(1);
    }

    @Test
    void nearItsEndItIsRenewedUnderTheSameAuthority() throws Exception {
        ServingCertificate first = at(NOW, "a.svc");
        ServingCertificate next = at(NOW.plus(Duration.ofDays(310)), "a.svc");
        assertThat(next.certificatePem()).isNotEqualTo(first.certificatePem());
        assertThat(next.caPem()).isEqualTo(first.caPem());
    }

    @Test
    void aNameThatIsMissingRenewsIt() throws Exception {
        at(NOW, "a.svc");
        assertThat(X509.names(X509.certificate(at(NOW, "b.svc").certificatePem())))
                .containsExactly("b.svc");
    }
}
