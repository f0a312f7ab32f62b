package io.gpufleet.allocation.webhook;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Date;
import java.util.Set;
import java.util.TreeSet;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** Certificates by Bouncy Castle, since the JDK reads them and cannot issue them. Keys and signatures are of the JDK. */
final class X509 {
    /** By as much the clock of a replica may be ahead of that of the API server, as for its proofs. */
    private static final Duration CLOCK_SKEW = Duration.ofDays(1);

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final X500Name CA = new X500Name("CN=gpufleet webhook CA");
    private static final X500Name SERVER = new X500Name("CN=gpufleet webhook");
    private static final X500Name REPLICA = new X500Name("CN=gpufleet allocation-service replica");

    private X509() {}

    /** Start and length of the time for which a certificate is valid. */
    record Validity(Instant from, Duration length) {}

    static KeyPair newKeys() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"), RANDOM);
        return generator.generateKeyPair();
    }

    static X509Certificate ca(KeyPair keys, Instant now, Duration validity)
            throws GeneralSecurityException, IOException {
        var builder = builder(CA, CA, keys, new Validity(now, validity));
        builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
        builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign));
        return sign(builder, keys.getPrivate());
    }

    /** A certificate by which the API server knows the webhook. */
    static X509Certificate server(
            X509Certificate ca, PrivateKey caKey, KeyPair keys, Set<String> hosts, Validity validity)
            throws GeneralSecurityException, IOException {
        var usage = new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth);
        return sign(leaf(builder(issuer(ca), SERVER, keys, validity), usage, hosts), caKey);
    }

    /** A certificate by which replicas know each other, whichever of them calls. */
    static X509Certificate replica(X509Certificate ca, PrivateKey caKey, KeyPair keys, String host, Validity validity)
            throws GeneralSecurityException, IOException {
        var usage =
                new ExtendedKeyUsage(new KeyPurposeId[] {KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth});
        return sign(leaf(builder(issuer(ca), REPLICA, keys, validity), usage, Set.of(host)), caKey);
    }

    private static X500Name issuer(X509Certificate ca) {
        return X500Name.getInstance(ca.getSubjectX500Principal().getEncoded());
    }

    private static X509v3CertificateBuilder leaf(
            X509v3CertificateBuilder builder, ExtendedKeyUsage usage, Set<String> hosts) throws IOException {
        builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
        builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
        builder.addExtension(Extension.extendedKeyUsage, false, usage);
        builder.addExtension(
                Extension.subjectAlternativeName,
                false,
                new GeneralNames(new TreeSet<>(hosts).stream().map(X509::name).toArray(GeneralName[]::new)));
        return builder;
    }

    private static GeneralName name(String host) {
        boolean address = host.matches("[0-9.]+") || host.contains(":");
        return new GeneralName(address ? GeneralName.iPAddress : GeneralName.dNSName, host);
    }

    private static X509v3CertificateBuilder builder(
            X500Name issuer, X500Name subject, KeyPair keys, Validity validity) {
        return new JcaX509v3CertificateBuilder(
                issuer,
                new BigInteger(120, RANDOM).add(BigInteger.ONE),
                Date.from(validity.from().minus(CLOCK_SKEW)),
                Date.from(validity.from().plus(validity.length())),
                subject,
                keys.getPublic());
    }

    private static X509Certificate sign(X509v3CertificateBuilder builder, PrivateKey key)
            throws GeneralSecurityException {
        try {
            return new JcaX509CertificateConverter()
                    .getCertificate(builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(key)));
        } catch (OperatorCreationException failed) {
            throw new GeneralSecurityException("the JDK cannot sign with SHA256withECDSA", failed);
        }
    }

    static String pem(X509Certificate certificate) throws IOException {
        return text(certificate);
    }

    static String pem(PrivateKey key) throws IOException {
        return text(new JcaPKCS8Generator(key, null));
    }

    private static String text(Object object) throws IOException {
        var text = new StringWriter();
        try (var writer = new JcaPEMWriter(text)) {
            writer.writeObject(object);
        }
        return text.toString();
    }

    static X509Certificate certificate(String pem) throws GeneralSecurityException {
        return (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
    }

    static PrivateKey key(String pem) throws IOException {
        try (var parser = new PEMParser(new StringReader(pem))) {
            if (parser.readObject() instanceof PrivateKeyInfo info) {
                return new JcaPEMKeyConverter().getPrivateKey(info);
            }
        }
        throw new IOException("ca.key is not a PKCS#8 key");
    }

    /** True after two thirds of the life of the certificate. */
    static boolean dueForRenewal(X509Certificate certificate, Instant now) {
        Instant from = certificate.getNotBefore().toInstant();
        Duration life = Duration.between(from, certificate.getNotAfter().toInstant());
        return !now.isBefore(from.plus(life.multipliedBy(2).dividedBy(3)));
    }

    /** True when the key of the CA signed the certificate. */
    static boolean signed(X509Certificate certificate, X509Certificate ca) {
        try {
            certificate.verify(ca.getPublicKey());
            return true;
        } catch (GeneralSecurityException otherCa) {
            return false;
        }
    }

    /** DNS names and IP addresses in the certificate. */
    static Set<String> subjectAlternativeNames(X509Certificate certificate) throws GeneralSecurityException {
        Set<String> names = new TreeSet<>();
        Collection<java.util.List<?>> found = certificate.getSubjectAlternativeNames();
        if (found != null) {
            found.forEach(name -> names.add(String.valueOf(name.get(1))));
        }
        return names;
    }
}
