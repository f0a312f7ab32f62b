package io.gpufleet.kit.tls;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where the servers of a program have their certificate from: {@code GPUFLEET_HTTP_CERTIFICATE} and its neighbours. */
public sealed interface CertificateSettings {
    /** Name of the setting with the file of the certificate. */
    String CERTIFICATE = "GPUFLEET_HTTP_CERTIFICATE";
    /** Name of the setting with the file of the key. */
    String KEY = "GPUFLEET_HTTP_KEY";
    /** Name of the setting with the Secret of the CA. */
    String CA_SECRET = "GPUFLEET_HTTP_CA_SECRET";

    /** No certificate: clear text. */
    record None() implements CertificateSettings {}

    /** Files with the certificate and its key. */
    record Files(Path certificate, Path key) implements CertificateSettings {}

    /** A Secret with a CA that the services share; each process issues its own certificate by it. */
    record CaSecret(String namespace, String name) implements CertificateSettings {}

    /** The variables that {@link #of} reads. */
    static List<Setting> settings() {
        return List.of(
                Setting.optional(
                        CERTIFICATE,
                        "",
                        "PEM file with the certificate of the HTTP and gRPC servers and those of its issuers, read again"
                                + " every 10s; with none and no CA they speak clear text"),
                Setting.optional(KEY, "", "PEM file with its key, PKCS#8"),
                Setting.optional(
                        CA_SECRET,
                        "",
                        "NAMESPACE/NAME of the Secret with the CA by which this process issues its own certificate; it is"
                                + " created where there is none"));
    }

    /** Reads the variables; a half of a pair, and two sources at a time, are errors. */
    static CertificateSettings of(Environment environment) {
        String certificate = environment.text(CERTIFICATE);
        String key = environment.text(KEY);
        String secret = environment.text(CA_SECRET);
        if (certificate.isEmpty() != key.isEmpty()) {
            throw new ConfigurationException((certificate.isEmpty() ? CERTIFICATE : KEY) + " is not set, but "
                    + (key.isEmpty() ? CERTIFICATE : KEY) + "=" + certificate + key
                    + " is: set both, or none for clear text");
        }
        if (!certificate.isEmpty() && !secret.isEmpty()) {
            throw new ConfigurationException(CERTIFICATE + "=" + certificate + " and " + CA_SECRET + "=" + secret
                    + " exclude each other: leave one of them empty");
        }
        if (!certificate.isEmpty()) {
            return new Files(Path.of(certificate), Path.of(key));
        }
        return secret.isEmpty() ? new None() : caSecret(environment, secret);
    }

    private static CaSecret caSecret(Environment environment, String text) {
        Matcher matcher = Pattern.compile("([a-z0-9][-a-z0-9]{0,62})/([a-z0-9][-a-z0-9.]{0,252})")
                .matcher(text);
        if (!matcher.matches()) {
            throw environment.invalid(CA_SECRET, "NAMESPACE/NAME of a Secret, for example gpufleet-system/gpufleet-ca");
        }
        return new CaSecret(matcher.group(1), matcher.group(2));
    }
}
