package io.gpufleet.kit.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.tls.CertificateAuthority.Purpose;
import io.gpufleet.kit.tls.CertificateAuthority.Validity;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Certificates as the JDK reads and validates them. */
class CertificateAuthorityTest {
    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");
    private static final Set<String> HOSTS = Set.of("127.0.0.1", "a.svc", "*.replicas.svc", "2001:db8:0:0:0:0:0:1");

    private static CertificateAuthority authority(Instant from) throws Exception {
        return CertificateAuthority.create("test CA", new Validity(from, Duration.ofDays(3650)));
    }

    private static X509Certificate issued(CertificateAuthority by, Instant from) throws Exception {
        return by.issue(
                "a server",
                HOSTS,
                Set.of(Purpose.SERVER, Purpose.CLIENT),
                CertificateAuthority.newKeys().getPublic(),
                new Validity(from, Duration.ofDays(30)));
    }

    private static void validate(X509Certificate certificate, X509Certificate trusted, Instant when) throws Exception {
        var parameters = new PKIXParameters(Set.of(new TrustAnchor(trusted, null)));
        parameters.setRevocationEnabled(false);
        parameters.setDate(Date.from(when));
        var path = CertificateFactory.getInstance("X.509").generateCertPath(List.of(certificate));
        CertPathValidator.getInstance("PKIX").validate(path, parameters);
    }

    @ParameterizedTest
    @ValueSource(strings = {"2026-11-20T12:00:00Z", "2049-12-31T23:59:59Z", "2051-01-01T00:00:00Z"})
    void certificateIsValidByItsAuthorityForItsTime(String from) throws Exception {
        Instant start = Instant.parse(from);
        var authority = authority(start);
        var certificate = issued(authority, start);

        validate(certificate, authority.certificate(), start);
        assertThat(certificate.getNotBefore()).isEqualTo(Date.from(start.minus(Duration.ofDays(1))));
        assertThat(certificate.getNotAfter()).isEqualTo(Date.from(start.plus(Duration.ofDays(30))));
        assertThatThrownBy(() -> validate(certificate, authority.certificate(), start.plus(Duration.ofDays(31))))
                .isInstanceOf(CertPathValidatorException.class);
    }

    @Test
    void certificateOfAnotherAuthorityOfTheSameNameIsRefused() throws Exception {
        var certificate = issued(authority(NOW), NOW);
        var other = authority(NOW);

        assertThat(other.signed(certificate)).isFalse();
        assertThatThrownBy(() -> validate(certificate, other.certificate(), NOW))
                .isInstanceOf(CertPathValidatorException.class);
    }

    @Test
    void certificateNamesHostsAndPurposesAndIsNoAuthority() throws Exception {
        var authority = authority(NOW);
        var certificate = issued(authority, NOW);

        assertThat(CertificateAuthority.hosts(certificate)).isEqualTo(HOSTS);
        assertThat(certificate.getExtendedKeyUsage())
                .containsExactlyInAnyOrder("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2");
        assertThat(certificate.getBasicConstraints()).isEqualTo(-1);
        assertThat(certificate.getKeyUsage()).startsWith(true, false);
        assertThat(authority.certificate().getBasicConstraints()).isZero();
        assertThat(authority.certificate().getKeyUsage()).startsWith(false, false, false, false, false, true, true);
        assertThat(certificate.getSubjectX500Principal().getName()).isEqualTo("CN=a server");
        assertThat(certificate.getCriticalExtensionOIDs()).containsExactlyInAnyOrder("2.5.29.15", "2.5.29.19");
    }

    @Test
    void certificateNamesTheKeyOfItsAuthority() throws Exception {
        var authority = authority(NOW);

        byte[] subject = authority.certificate().getExtensionValue("2.5.29.14");
        byte[] issuer = issued(authority, NOW).getExtensionValue("2.5.29.35");

        assertThat(subject).hasSize(24);
        assertThat(Arrays.copyOfRange(issuer, issuer.length - 20, issuer.length))
                .isEqualTo(Arrays.copyOfRange(subject, subject.length - 20, subject.length));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 20, 64, 500})
    void anyNumberOfHostsIsRead(int number) throws Exception {
        Set<String> hosts = IntStream.range(0, number)
                .mapToObj(i -> "host-" + i + ".example")
                .collect(Collectors.toSet());
        var certificate = authority(NOW)
                .issue(
                        "many",
                        hosts,
                        Set.of(Purpose.SERVER),
                        CertificateAuthority.newKeys().getPublic(),
                        new Validity(NOW, Duration.ofDays(1)));

        assertThat(CertificateAuthority.hosts(certificate)).isEqualTo(hosts);
    }

    @Test
    void pemTextIsReadAgain() throws Exception {
        var authority = authority(NOW);

        assertThat(Pem.certificate(Pem.text(authority.certificate()))).isEqualTo(authority.certificate());
        assertThat(Pem.key(Pem.text(authority.key()))).isEqualTo(authority.key());
        assertThatThrownBy(() ->
                        Pem.key("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----"))
                .hasMessageContaining("no PKCS#8 key in PEM form without a password");
        assertThatThrownBy(() -> Pem.certificates("")).hasMessageContaining("no certificate");
    }

    @Test
    void certificateIsDueAfterTwoThirdsOfItsLife() throws Exception {
        var certificate = issued(authority(NOW), NOW);

        assertThat(CertificateAuthority.dueForRenewal(certificate, NOW.plus(Duration.ofDays(19))))
                .isFalse();
        assertThat(CertificateAuthority.dueForRenewal(certificate, NOW.plus(Duration.ofDays(20))))
                .isTrue();
    }
}
