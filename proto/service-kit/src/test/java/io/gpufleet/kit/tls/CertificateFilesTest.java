package io.gpufleet.kit.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.tls.CertificateAuthority.Purpose;
import io.gpufleet.kit.tls.CertificateAuthority.Validity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A certificate in files that somebody else writes, and the settings that name them. */
class CertificateFilesTest {
    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");

    @TempDir
    private Path directory;

    private CertificateAuthority authority;
    private CertificateSettings.Files files;

    @BeforeEach
    void authority() throws Exception {
        authority = CertificateAuthority.create("test CA", new Validity(NOW, Duration.ofDays(3650)));
        files = new CertificateSettings.Files(directory.resolve("tls.crt"), directory.resolve("tls.key"));
    }

    private X509Certificate write(KeyPair keys, Instant from) throws Exception {
        X509Certificate certificate = authority.issue(
                "a",
                Set.of("a.svc"),
                Set.of(Purpose.SERVER),
                keys.getPublic(),
                new Validity(from, Duration.ofDays(30)));
        Files.writeString(files.certificate(), Pem.text(certificate) + Pem.text(authority.certificate()));
        Files.writeString(files.key(), Pem.text(keys.getPrivate()));
        return certificate;
    }

    private CertificateFiles read() {
        return CertificateFiles.read(files, () -> NOW);
    }

    @Test
    void certificateIsShownWithItsIssuers() throws Exception {
        X509Certificate certificate = write(CertificateAuthority.newKeys(), NOW);

        assertThat(read().certificate().getCertificateChain("any"))
                .containsExactly(certificate, authority.certificate());
    }

    @Test
    void keyOfRsaIsUsable() throws Exception {
        KeyPair keys = KeyPairGenerator.getInstance("RSA").generateKeyPair();
        X509Certificate certificate = write(keys, NOW);

        assertThat(read().certificate().certificate()).contains(certificate);
    }

    @Test
    void replacedFilesAreShownAndUnusableOnesAreNot() throws Exception {
        write(CertificateAuthority.newKeys(), NOW);
        CertificateFiles read = read();
        X509Certificate next = write(CertificateAuthority.newKeys(), NOW);

        read.reload();
        assertThat(read.certificate().certificate()).contains(next);

        // When only one of the two files is written yet
        Files.writeString(files.key(), Pem.text(CertificateAuthority.newKeys().getPrivate()));
        read.reload();
        assertThat(read.certificate().certificate()).contains(next);

        Files.delete(files.key());
        read.reload();
        assertThat(read.certificate().certificate()).contains(next);
    }

    @Test
    void absentFileIsOneLineThatNamesTheSettings() {
        assertThatThrownBy(this::read)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("GPUFLEET_HTTP_CERTIFICATE=" + files.certificate() + ", GPUFLEET_HTTP_KEY="
                        + files.key() + " are not usable: cannot be read (NoSuchFileException")
                .hasMessageNotContaining("\n");
    }

    @Test
    void keyOfAnotherCertificateIsRefused() throws Exception {
        write(CertificateAuthority.newKeys(), NOW);
        Files.writeString(files.key(), Pem.text(CertificateAuthority.newKeys().getPrivate()));

        assertThatThrownBy(this::read).hasMessageContaining("the key is not that of the certificate");
    }

    @Test
    void expiredCertificateIsRefusedWithItsTime() throws Exception {
        write(CertificateAuthority.newKeys(), NOW.minus(Duration.ofDays(31)));

        assertThatThrownBy(this::read).hasMessageContaining("the certificate expired at 2026-11-19T12:00:00Z");
    }

    @Test
    void fileThatIsNoPemIsRefused() throws Exception {
        Files.writeString(files.certificate(), "x");
        Files.writeString(files.key(), "y");

        assertThatThrownBy(this::read)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("are not usable");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        /a | ''| ''   | GPUFLEET_HTTP_KEY is not set, but GPUFLEET_HTTP_CERTIFICATE=/a is: set both, or none for clear text
        '' | /b| ''   | GPUFLEET_HTTP_CERTIFICATE is not set, but GPUFLEET_HTTP_KEY=/b is: set both, or none for clear text
        /a | /b| s/ca | GPUFLEET_HTTP_CERTIFICATE=/a and GPUFLEET_HTTP_CA_SECRET=s/ca exclude each other: leave one of them empty
        '' | ''| ca   | GPUFLEET_HTTP_CA_SECRET='ca' is not usable: it takes NAMESPACE/NAME of a Secret, for example gpufleet-system/gpufleet-ca
        """)
    void settingsThatContradictEachOtherAreOneLine(String certificate, String key, String secret, String line) {
        assertThatThrownBy(() -> settings(certificate, key, secret))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage(line);
    }

    @Test
    void settingsNameFilesOrASecretOrNothing() {
        assertThat(settings("/a", "/b", "")).isEqualTo(new CertificateSettings.Files(Path.of("/a"), Path.of("/b")));
        assertThat(settings("", "", "gpufleet-system/gpufleet-ca"))
                .isEqualTo(new CertificateSettings.CaSecret("gpufleet-system", "gpufleet-ca"));
        assertThat(settings("", "", "")).isEqualTo(new CertificateSettings.None());
    }

    private static CertificateSettings settings(String certificate, String key, String secret) {
        return CertificateSettings.of(Environment.read(
                Map.of(
                        "GPUFLEET_HTTP_CERTIFICATE", certificate,
                        "GPUFLEET_HTTP_KEY", key,
                        "GPUFLEET_HTTP_CA_SECRET", secret),
                CertificateSettings.settings()));
    }
}
