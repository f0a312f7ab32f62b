package io.gpufleet.allocation.webhook;

import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.Pem;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The CA among the files of the Secret. A renewed one waits for a day beside that in use, so that the API server trusts it
 * before any replica serves a certificate of it; that before it is trusted for a day longer. An expired one is replaced at
 * once.
 */
final class AuthorityFiles {
    static final String CERTIFICATE = "ca.crt";
    static final String KEY = "ca.key";
    private static final String NEXT = "ca-next.crt";
    private static final String NEXT_KEY = "ca-next.key";
    private static final String PREVIOUS = "ca-previous.crt";
    private static final String PROOF_KEY = "proof.key";
    private static final Duration VALIDITY = Duration.ofDays(3650);
    private static final Duration OVERLAP = Duration.ofDays(1);

    private final Map<String, String> files;

    /** The files that are changed. */
    AuthorityFiles(Map<String, String> files) {
        this.files = files;
    }

    /** Certificates that the API server trusts, PEM. */
    static String bundle(Map<String, String> files) {
        return Stream.of(CERTIFICATE, NEXT, PREVIOUS)
                .map(name -> files.getOrDefault(name, ""))
                .collect(Collectors.joining());
    }

    /** Key of the proofs, which stays the same when the CA is renewed. */
    static String proofKey(Map<String, String> files) {
        return files.getOrDefault(PROOF_KEY, files.getOrDefault(KEY, ""));
    }

    /** Takes the next step of a renewal, if it is time. */
    void renew(Instant now) throws GeneralSecurityException {
        if (!files.containsKey(CERTIFICATE) || !files.containsKey(KEY) || expired(CERTIFICATE, now)) {
            issue(CERTIFICATE, KEY, now);
        } else if (files.containsKey(NEXT) && files.containsKey(NEXT_KEY)) {
            if (issuedBefore(NEXT, now.minus(OVERLAP))) {
                replaceByNext();
            }
        } else if (CertificateAuthority.dueForRenewal(certificate(CERTIFICATE), now)) {
            issue(NEXT, NEXT_KEY, now);
        }
        if (files.containsKey(PREVIOUS) && issuedBefore(CERTIFICATE, now.minus(OVERLAP.multipliedBy(2)))) {
            files.remove(PREVIOUS);
        }
    }

    private void replaceByNext() {
        files.put(PROOF_KEY, proofKey(files));
        move(CERTIFICATE, PREVIOUS);
        move(NEXT, CERTIFICATE);
        move(NEXT_KEY, KEY);
    }

    private void move(String from, String to) {
        files.put(to, files.getOrDefault(from, ""));
        files.remove(from);
    }

    private void issue(String certificate, String key, Instant now) throws GeneralSecurityException {
        CertificateAuthority issued = X509.ca(new CertificateAuthority.Validity(now, VALIDITY));
        files.put(certificate, Pem.text(issued.certificate()));
        files.put(key, Pem.text(issued.key()));
    }

    private X509Certificate certificate(String name) throws GeneralSecurityException {
        return Pem.certificate(files.getOrDefault(name, ""));
    }

    private boolean expired(String name, Instant now) throws GeneralSecurityException {
        return !now.isBefore(certificate(name).getNotAfter().toInstant());
    }

    private boolean issuedBefore(String name, Instant time) throws GeneralSecurityException {
        return certificate(name).getNotAfter().toInstant().minus(VALIDITY).isBefore(time);
    }
}
