package io.gpufleet.kit.tls;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A CA that issues certificates of servers and clients (RFC 5280), which the JDK reads and cannot issue. Keys are of the curve
 * P-256, signatures ECDSA with SHA-256.
 *
 * @param certificate its certificate
 * @param key its key
 */
public record CertificateAuthority(X509Certificate certificate, PrivateKey key) {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int SERIAL_BITS = 120;
    /** By as much the clock of the issuer may be ahead of that of a peer. */
    private static final Duration CLOCK_SKEW = Duration.ofDays(1);

    private static final byte[] SIGNATURE_ALGORITHM = Der.sequence(Der.identifier("1.2.840.10045.4.3.2"));
    private static final String COMMON_NAME = "2.5.4.3";
    private static final String SUBJECT_KEY_IDENTIFIER = "2.5.29.14";
    private static final String KEY_USAGE = "2.5.29.15";
    private static final String SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";
    private static final String BASIC_CONSTRAINTS = "2.5.29.19";
    private static final String AUTHORITY_KEY_IDENTIFIER = "2.5.29.35";
    private static final String EXTENDED_KEY_USAGE = "2.5.29.37";
    private static final int KEY_IDENTIFIER_BYTES = 20;
    private static final int DIGITAL_SIGNATURE = 0x80;
    private static final int CERTIFICATE_AND_CRL_SIGN = 0x06;
    private static final int DNS_NAME = 2;
    private static final int IP_ADDRESS = 7;

    /** Role of the holder of a certificate in a handshake. */
    public enum Purpose {
        /** A server. */
        SERVER("1.3.6.1.5.5.7.3.1"),
        /** A client. */
        CLIENT("1.3.6.1.5.5.7.3.2");

        private final String identifier;

        Purpose(String identifier) {
            this.identifier = identifier;
        }
    }

    /** Start and length of the time for which a certificate is valid; it is valid a day before as well. */
    public record Validity(Instant from, Duration length) {}

    /** Makes a key. */
    public static KeyPair newKeys() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"), RANDOM);
        return generator.generateKeyPair();
    }

    /** Makes a CA that signs itself. */
    public static CertificateAuthority create(String name, Validity validity) throws GeneralSecurityException {
        KeyPair keys = newKeys();
        byte[] subject = name(name);
        byte[] extensions = Der.sequence(
                extension(BASIC_CONSTRAINTS, true, Der.sequence(Der.bool(true), Der.integer(BigInteger.ZERO))),
                extension(KEY_USAGE, true, Der.flags(CERTIFICATE_AND_CRL_SIGN)),
                extension(SUBJECT_KEY_IDENTIFIER, false, Der.octets(keyIdentifier(keys.getPublic()))));
        return new CertificateAuthority(
                sign(body(subject, validity, subject, keys.getPublic(), extensions), keys.getPrivate()),
                keys.getPrivate());
    }

    /** Issues a certificate for DNS names and IP addresses. */
    public X509Certificate issue(
            String name, Set<String> hosts, Set<Purpose> purposes, PublicKey holder, Validity validity)
            throws GeneralSecurityException {
        var identifiers = new ArrayList<byte[]>();
        new TreeSet<>(purposes).forEach(purpose -> identifiers.add(Der.identifier(purpose.identifier)));
        var names = new ArrayList<byte[]>();
        for (String host : new TreeSet<>(hosts)) {
            names.add(generalName(host));
        }
        byte[] extensions = Der.sequence(
                extension(BASIC_CONSTRAINTS, true, Der.sequence()),
                extension(KEY_USAGE, true, Der.flags(DIGITAL_SIGNATURE)),
                extension(EXTENDED_KEY_USAGE, false, Der.sequence(identifiers)),
                extension(SUBJECT_ALTERNATIVE_NAME, false, Der.sequence(names)),
                extension(
                        AUTHORITY_KEY_IDENTIFIER,
                        false,
                        Der.sequence(Der.implicit(0, keyIdentifier(certificate.getPublicKey())))));
        byte[] issuer = certificate.getSubjectX500Principal().getEncoded();
        return sign(body(issuer, validity, name(name), holder, extensions), key);
    }

    private static byte[] body(byte[] issuer, Validity validity, byte[] subject, PublicKey holder, byte[] extensions) {
        return Der.sequence(
                Der.explicit(0, Der.integer(BigInteger.TWO)),
                Der.integer(new BigInteger(SERIAL_BITS, RANDOM).add(BigInteger.ONE)),
                SIGNATURE_ALGORITHM,
                issuer,
                Der.sequence(
                        Der.time(validity.from().minus(CLOCK_SKEW)),
                        Der.time(validity.from().plus(validity.length()))),
                subject,
                holder.getEncoded(),
                Der.explicit(3, extensions));
    }

    /** Clients that are strict, such as Python's, want it in both. */
    private static byte[] keyIdentifier(PublicKey key) throws GeneralSecurityException {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getEncoded());
        return Arrays.copyOf(digest, KEY_IDENTIFIER_BYTES);
    }

    private static byte[] name(String commonName) {
        return Der.sequence(Der.set(Der.sequence(Der.identifier(COMMON_NAME), Der.utf8(commonName))));
    }

    private static byte[] generalName(String host) {
        boolean address = host.matches("[0-9.]+") || host.contains(":");
        return address
                ? Der.implicit(IP_ADDRESS, InetAddress.ofLiteral(host).getAddress())
                : Der.implicit(DNS_NAME, host.getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] extension(String identifier, boolean critical, byte[] value) {
        return critical
                ? Der.sequence(Der.identifier(identifier), Der.bool(true), Der.octets(value))
                : Der.sequence(Der.identifier(identifier), Der.octets(value));
    }

    private static X509Certificate sign(byte[] body, PrivateKey key) throws GeneralSecurityException {
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(key, RANDOM);
        signature.update(body);
        byte[] certificate = Der.sequence(body, SIGNATURE_ALGORITHM, Der.bits(signature.sign()));
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(certificate));
    }

    /** True when the key of this CA signed the certificate. */
    public boolean signed(X509Certificate issued) {
        return signed(issued, certificate);
    }

    /** True when the key of the CA signed the certificate. */
    public static boolean signed(X509Certificate issued, X509Certificate authority) {
        try {
            issued.verify(authority.getPublicKey());
            return true;
        } catch (GeneralSecurityException otherAuthority) {
            return false;
        }
    }

    /** True after two thirds of the life of the certificate. */
    public static boolean dueForRenewal(X509Certificate certificate, Instant now) {
        Instant from = certificate.getNotBefore().toInstant();
        Duration life = Duration.between(from, certificate.getNotAfter().toInstant());
        return !now.isBefore(from.plus(life.multipliedBy(2).dividedBy(3)));
    }

    /** DNS names and IP addresses of a certificate. */
    public static Set<String> hosts(X509Certificate certificate) throws GeneralSecurityException {
        Collection<List<?>> names = certificate.getSubjectAlternativeNames();
        var hosts = new TreeSet<String>();
        if (names != null) {
            names.forEach(name -> hosts.add(String.valueOf(name.get(1))));
        }
        return hosts;
    }
}
