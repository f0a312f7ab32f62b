package io.gpufleet.testbed.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;

/** An identity provider: signs JSON Web Tokens (RFC 7519, RS256) that a broker verifies by a file of keys (RFC 7517). */
final class TokenIssuer {
    /** Audience of each token; the broker refuses others. */
    static final String AUDIENCE = "kafka";

    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();
    private static final Duration LIFE = Duration.ofHours(1);

    private final KeyPair keys;

    private TokenIssuer(KeyPair keys) {
        this.keys = keys;
    }

    /** Makes a key. */
    static TokenIssuer create() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            return new TokenIssuer(generator.generateKeyPair());
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("every Java has RSA", missing);
        }
    }

    /** Writes the public key as a JSON Web Key Set. */
    void writeKeys(Path file) throws IOException {
        var key = (RSAPublicKey) keys.getPublic();
        Files.writeString(file, """
            {"keys": [{"kty": "RSA", "kid": "k1", "use": "sig", "alg": "RS256", "n": "%s", "e": "%s"}]}
            """.formatted(unsigned(key.getModulus()), unsigned(key.getPublicExponent())));
    }

    /** A token of a user that lives for an hour. */
    String token(String user) {
        Instant now = Instant.now();
        String signed = part("{\"alg\":\"RS256\",\"kid\":\"k1\"}") + "."
                + part("{\"iss\":\"gpufleet\",\"sub\":\"%s\",\"aud\":\"%s\",\"iat\":%d,\"exp\":%d}"
                        .formatted(
                                user,
                                AUDIENCE,
                                now.getEpochSecond(),
                                now.plus(LIFE).getEpochSecond()));
        try {
            Signature signature = Signature.getInstance("SHA256withRSA");
            signature.initSign(keys.getPrivate());
            signature.update(signed.getBytes(UTF_8));
            return signed + "." + BASE64.encodeToString(signature.sign());
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("every Java has RSA", missing);
        }
    }

    private static String part(String json) {
        return BASE64.encodeToString(json.getBytes(UTF_8));
    }

    /** Big endian without the byte of the sign. */
    private static String unsigned(BigInteger number) {
        byte[] bytes = number.toByteArray();
        return BASE64.encodeToString(bytes[0] == 0 ? Arrays.copyOfRange(bytes, 1, bytes.length) : bytes);
    }
}
