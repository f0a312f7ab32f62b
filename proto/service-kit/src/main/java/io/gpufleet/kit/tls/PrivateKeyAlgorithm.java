package io.gpufleet.kit.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The algorithm of a private key in PEM form. Kubernetes clients in Java want to be told: a kubeconfig of k3s or of a
 * hand-made cluster has EC keys, one of kubeadm RSA keys, and both may come as PKCS#8.
 */
public final class PrivateKeyAlgorithm {
    /** Object identifier 1.2.840.10045.2.1 (id-ecPublicKey, RFC 5480) as DER. */
    private static final String EC_OID = "06072a8648ce3d0201";

    /** Object identifier 1.3.101.112 (id-Ed25519, RFC 8410) as DER. */
    private static final String ED25519_OID = "06032b6570";

    private PrivateKeyAlgorithm() {}

    /**
     * The algorithm of the key that a client configuration names: data wins over a file; without either, or where the
     * file can not be read, {@code RSA}, and the client says itself what is wrong.
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

    /** The JDK's name: {@code EC}, {@code Ed25519}, else {@code RSA}. Takes PEM, or PEM once more in Base64. */
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
