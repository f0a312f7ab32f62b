package io.gpufleet.kit.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Detects the algorithm of a private key in PEM form, which Kubernetes clients in Java require as a setting. A
 * kubeconfig of k3s or of a manual installation has EC keys, one of kubeadm has RSA keys, and both may be PKCS#8.
 */
public final class PrivateKeyAlgorithm {
    /** Object identifier 1.2.840.10045.2.1 (id-ecPublicKey, RFC 5480) as DER. */
    private static final String EC_OID = "06072a8648ce3d0201";

    /** Object identifier 1.3.101.112 (id-Ed25519, RFC 8410) as DER. */
    private static final String ED25519_OID = "06032b6570";

    private PrivateKeyAlgorithm() {}

    /**
     * Detects the algorithm of the key in a client configuration. Data takes precedence over a file. Returns
     * {@code RSA} without either, and for a file that cannot be read, so that the client reports the error.
     */
    public static String of(@Nullable String data, @Nullable String file) {
        if (data != null && !data.isEmpty()) {
            return of(data);
        }
        if (file == null || file.isEmpty()) {
            return "RSA";
        }
        try {
            return of(Files.readString(Path.of(file)));
        } catch (IOException unreadable) {
            return "RSA";
        }
    }

    /** Returns the JDK's name: {@code EC}, {@code Ed25519}, else {@code RSA}. Accepts PEM and PEM in Base64. */
    public static String of(String key) {
        String pem = key.contains("-----BEGIN")
                ? key
                : new String(Base64.getMimeDecoder().decode(key), StandardCharsets.UTF_8);
        if (pem.contains("BEGIN EC PRIVATE KEY")) {
            return "EC";
        }
        if (!pem.contains("BEGIN PRIVATE KEY")) {
            return "RSA";
        }
        String body = pem.replaceAll("-----[A-Z ]+-----", "");
        String der = HexFormat.of().formatHex(Base64.getMimeDecoder().decode(body));
        if (der.contains(EC_OID)) {
            return "EC";
        }
        return der.contains(ED25519_OID) ? "Ed25519" : "RSA";
    }
}
