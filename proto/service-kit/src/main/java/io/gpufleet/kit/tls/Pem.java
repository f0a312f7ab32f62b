package io.gpufleet.kit.tls;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Certificates and private keys as PEM text (RFC 7468). */
public final class Pem {
    private static final Pattern PRIVATE_KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
    private static final int LINE = 64;

    private Pem() {}

    /** Text of a certificate. */
    public static String text(X509Certificate certificate) throws GeneralSecurityException {
        return text("CERTIFICATE", certificate.getEncoded());
    }

    /** Text of a private key, PKCS#8. */
    public static String text(PrivateKey key) {
        return text("PRIVATE KEY", key.getEncoded());
    }

    private static String text(String kind, byte[] content) {
        String base64 = Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encodeToString(content);
        return "-----BEGIN " + kind + "-----\n" + base64 + "\n-----END " + kind + "-----\n";
    }

    /** The first certificate of a text. */
    public static X509Certificate certificate(String text) throws GeneralSecurityException {
        return certificates(text).getFirst();
    }

    /** All certificates of a text, at least one. */
    public static List<X509Certificate> certificates(String text) throws GeneralSecurityException {
        List<X509Certificate> found = CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)))
                .stream()
                .map(X509Certificate.class::cast)
                .toList();
        if (found.isEmpty()) {
            throw new CertificateException("no certificate in PEM form");
        }
        return found;
    }

    /** The private key of a text; it must be PKCS#8 without a password. */
    public static PrivateKey key(String text) throws GeneralSecurityException {
        Matcher matcher = PRIVATE_KEY.matcher(text);
        if (!matcher.find()) {
            throw new InvalidKeySpecException("no PKCS#8 key in PEM form without a password ('BEGIN PRIVATE KEY')");
        }
        try {
            byte[] content = Base64.getMimeDecoder().decode(matcher.group(1));
            return KeyFactory.getInstance(PrivateKeyAlgorithm.of(text))
                    .generatePrivate(new PKCS8EncodedKeySpec(content));
        } catch (IllegalArgumentException noBase64) {
            throw new InvalidKeySpecException("the private key is no Base64", noBase64);
        }
    }
}
