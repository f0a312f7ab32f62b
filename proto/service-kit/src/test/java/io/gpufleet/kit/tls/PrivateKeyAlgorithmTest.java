package io.gpufleet.kit.tls;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.KeyPairGenerator;
import java.util.Base64;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrivateKeyAlgorithmTest {
    @ParameterizedTest
    @CsvSource({"EC, EC", "RSA, RSA", "Ed25519, Ed25519"})
    void algorithmOfAPkcs8KeyIsFound(String generated, String found) throws Exception {
        // Given
        byte[] der = KeyPairGenerator.getInstance(generated)
                .generateKeyPair()
                .getPrivate()
                .getEncoded();
        String pem = "-----BEGIN PRIVATE KEY-----\n" + Base64.getMimeEncoder().encodeToString(der)
                + "\n-----END PRIVATE KEY-----\n";

        // When
        String plain = PrivateKeyAlgorithm.of(pem);
        String asInAKubeconfig =
                PrivateKeyAlgorithm.of(Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.UTF_8)));

        // Then
        assertThat(plain).isEqualTo(found);
        assertThat(asInAKubeconfig).isEqualTo(found);
    }

    @ParameterizedTest
    @CsvSource({"EC PRIVATE KEY, EC", "RSA PRIVATE KEY, RSA"})
    void olderFormsNameItInTheirFirstLine(String heading, String found) {
        String pem = "-----BEGIN " + heading + "-----\nMA==\n-----END " + heading + "-----\n";

        assertThat(PrivateKeyAlgorithm.of(pem)).isEqualTo(found);
    }
}
