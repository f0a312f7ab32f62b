package io.gpufleet.kit.tls;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A certificate with those of its issuers, and its key, in PEM files that somebody else renews: a mounted Secret, for example
 * of cert-manager. Files that cannot be used keep what is shown. For one thread.
 */
public final class CertificateFiles {
    private static final Logger LOG = LoggerFactory.getLogger(CertificateFiles.class);
    private static final byte[] PROBE = {1};

    private final CertificateSettings.Files files;
    private final InstantSource clock;
    private final NewestCertificate newest = new NewestCertificate();
    private String shown = "";
    private String problem = "";

    private CertificateFiles(CertificateSettings.Files files, InstantSource clock) {
        this.files = files;
        this.clock = clock;
    }

    /** Reads the files; those that cannot be used are an error that says why. */
    public static CertificateFiles read(CertificateSettings.Files files, InstantSource clock) {
        var read = new CertificateFiles(files, clock);
        try {
            read.take();
        } catch (IOException | GeneralSecurityException unusable) {
            throw new ConfigurationException(read.objection(unusable));
        }
        return read;
    }

    /** The certificate to show. */
    public NewestCertificate certificate() {
        return newest;
    }

    /** Reads the files again, and shows a changed certificate from the next handshake on. */
    public void reload() {
        try {
            take();
            problem = "";
        } catch (IOException | GeneralSecurityException unusable) {
            String line = objection(unusable);
            if (!line.equals(problem)) {
                problem = line;
                LOG.atWarn().addKeyValue("error", line).log("certificate not replaced, the former one is shown");
            }
        }
    }

    private void take() throws IOException, GeneralSecurityException {
        String chainText = Files.readString(files.certificate());
        String keyText = Files.readString(files.key());
        if (shown.equals(chainText + keyText)) {
            return;
        }
        List<X509Certificate> chain = Pem.certificates(chainText);
        PrivateKey key = Pem.key(keyText);
        requireMatch(chain.getFirst(), key);
        Instant end = chain.getFirst().getNotAfter().toInstant();
        if (!clock.instant().isBefore(end)) {
            throw new GeneralSecurityException("the certificate expired at " + end);
        }
        newest.replace(chain, key);
        shown = chainText + keyText;
        LOG.atInfo()
                .addKeyValue("file", files.certificate())
                .addKeyValue("expires", end)
                .log("certificate read");
    }

    /** Verifies by the certificate what the key signs; a renewal that is half written shows by this too. */
    private static void requireMatch(X509Certificate certificate, PrivateKey key) throws GeneralSecurityException {
        String algorithm = switch (key.getAlgorithm()) {
            case "EC" -> "SHA256withECDSA";
            case "RSA" -> "SHA256withRSA";
            default -> key.getAlgorithm();
        };
        Signature signature = Signature.getInstance(algorithm);
        boolean matches;
        try {
            signature.initSign(key);
            signature.update(PROBE);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(PROBE);
            matches = signature.verify(signed);
        } catch (InvalidKeyException | SignatureException otherAlgorithm) {
            matches = false;
        }
        if (!matches) {
            throw new GeneralSecurityException("the key is not that of the certificate");
        }
    }

    private String objection(Exception unusable) {
        String reason = unusable instanceof IOException
                ? "cannot be read (" + unusable.getClass().getSimpleName() + ": " + unusable.getMessage() + ")"
                : String.valueOf(unusable.getMessage());
        return CertificateSettings.CERTIFICATE + "=" + files.certificate() + ", " + CertificateSettings.KEY + "="
                + files.key() + " are not usable: " + reason
                + "; they take a PEM certificate with those of its issuers, and its PKCS#8 key";
    }
}
