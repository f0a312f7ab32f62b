package io.gpufleet.runtime.kubernetes;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.tls.CertificateSettings;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.Authorizer.AccessResult;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What every service asks of the API server, by the right that it needs; each returns the line with which it fails, or an
 * empty text.
 */
public final class SharedNeeds {
    private static final String CA = "gpufleet-ca";

    private SharedNeeds() {}

    /** Needs of a service whose Secret of the CA is in a namespace; {@code admin} changes what it finds. */
    public static Map<String, Supplier<String>> of(KubernetesClient service, KubernetesClient admin, String namespace) {
        var secret = admin.secrets().inNamespace(namespace).withName(CA);
        var map = admin.configMaps().inNamespace(namespace).withName(CA);
        Supplier<String> authority = () -> authority(service, namespace);
        return Map.of(
                "create tokenreviews.authentication.k8s.io",
                () -> review(service),
                "create subjectaccessreviews.authorization.k8s.io",
                () -> review(service),
                "create secrets",
                () -> {
                    secret.delete();
                    return authority.get();
                },
                "get secrets " + CA,
                authority,
                "create configmaps",
                () -> {
                    map.delete();
                    return authority.get();
                },
                "get configmaps " + CA,
                authority,
                "update configmaps " + CA,
                () -> {
                    admin.resource(new ConfigMapBuilder()
                                    .withNewMetadata()
                                    .withName(CA)
                                    .withNamespace(namespace)
                                    .endMetadata()
                                    .addToData("ca.crt", "that of another CA")
                                    .build())
                            .createOr(edit -> edit.update());
                    return authority.get();
                });
    }

    /** As a request is authorized, here with the token of the service itself. */
    private static String review(KubernetesClient service) {
        String token = service.getConfiguration().getOauthToken();
        AccessResult result = ReviewAuthorizer.uncached(service)
                .authorize(String.valueOf(token), new AccessRequest("gpufleet.io", "nodes", "list", "", ""));
        return result instanceof AccessResult.Unavailable(String reason) ? reason : "";
    }

    /** As the certificate of the HTTP server is issued: what is logged where the CA cannot be read. */
    private static String authority(KubernetesClient service, String namespace) {
        try {
            var _ = new SharedAuthority(service, new CertificateSettings.CaSecret(namespace, CA), Clock.systemUTC())
                    .obtain();
            return "";
        } catch (KubernetesClientException | GeneralSecurityException failed) {
            return IssuedCertificate.reason(failed);
        }
    }
}
