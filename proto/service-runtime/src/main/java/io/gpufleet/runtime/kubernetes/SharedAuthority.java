package io.gpufleet.runtime.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.CertificateSettings;
import io.gpufleet.kit.tls.Pem;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Date;
import java.util.Map;

/**
 * The CA of the services, in a Secret that the first of them creates. Its certificate is in the ConfigMap of the same name as
 * well, for clients, which must not read the key.
 */
final class SharedAuthority {
    static final String CERTIFICATE = "ca.crt";
    static final String KEY = "ca.key";
    private static final Duration VALIDITY = Duration.ofDays(3650);
    private static final int CONFLICT = 409;
    private static final Map<String, String> LABELS = Map.of("app.kubernetes.io/part-of", "gpufleet");

    private final KubernetesClient client;
    private final CertificateSettings.CaSecret secret;
    private final InstantSource clock;

    SharedAuthority(KubernetesClient client, CertificateSettings.CaSecret secret, InstantSource clock) {
        this.client = client;
        this.secret = secret;
        this.clock = clock;
    }

    /** Reads the CA, or creates it; the exception says what is in the way. Blocks. */
    CertificateAuthority obtain() throws GeneralSecurityException {
        Secret found = read();
        CertificateAuthority authority = found == null ? create() : parse(found);
        publish(Pem.text(authority.certificate()));
        return authority;
    }

    private Secret read() {
        return client.secrets()
                .inNamespace(secret.namespace())
                .withName(secret.name())
                .get();
    }

    private CertificateAuthority create() throws GeneralSecurityException {
        var made = CertificateAuthority.create(
                "gpufleet CA", new CertificateAuthority.Validity(clock.instant(), VALIDITY));
        Secret object = new SecretBuilder()
                .withNewMetadata()
                .withName(secret.name())
                .withNamespace(secret.namespace())
                .withLabels(LABELS)
                .endMetadata()
                .withType("Opaque")
                .addToData(CERTIFICATE, encoded(Pem.text(made.certificate())))
                .addToData(KEY, encoded(Pem.text(made.key())))
                .build();
        try {
            client.secrets().inNamespace(secret.namespace()).resource(object).create();
            return made;
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == CONFLICT) {
                Secret others = read();
                if (others != null) {
                    return parse(others);
                }
            }
            throw failed;
        }
    }

    private CertificateAuthority parse(Secret found) throws GeneralSecurityException {
        try {
            var authority =
                    new CertificateAuthority(Pem.certificate(text(found, CERTIFICATE)), Pem.key(text(found, KEY)));
            authority.certificate().checkValidity(Date.from(clock.instant()));
            return authority;
        } catch (GeneralSecurityException | IllegalArgumentException unusable) {
            throw new GeneralSecurityException(
                    "it has no " + CERTIFICATE + " and " + KEY + " to use (" + unusable.getMessage()
                            + "); delete it and a new CA is made",
                    unusable);
        }
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }

    private static String text(Secret found, String file) {
        Map<String, String> data = found.getData();
        String encoded = data == null ? "" : data.getOrDefault(file, "");
        return new String(Base64.getMimeDecoder().decode(encoded), UTF_8);
    }

    private void publish(String certificate) {
        var maps = client.configMaps().inNamespace(secret.namespace());
        ConfigMap found = maps.withName(secret.name()).get();
        if (found != null
                && found.getData() != null
                && certificate.equals(found.getData().get(CERTIFICATE))) {
            return;
        }
        ConfigMap object = new ConfigMapBuilder()
                .withNewMetadata()
                .withName(secret.name())
                .withNamespace(secret.namespace())
                .withLabels(LABELS)
                .endMetadata()
                .addToData(CERTIFICATE, certificate)
                .build();
        try {
            if (found == null) {
                maps.resource(object).create();
            } else {
                maps.resource(object).update();
            }
        } catch (KubernetesClientException failed) {
            if (failed.getCode() != CONFLICT) {
                throw failed;
            }
        }
    }
}
