package io.gpufleet.allocation.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.CertificateStore;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Store of the webhook's certificate in the Secret {@code gpufleet-webhook}; the active replica writes it. */
public final class CertificateSecret implements CertificateStore {
    private static final String NAME = "gpufleet-webhook";
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final KubernetesClient client;
    private final ActiveLease active;
    private final String namespace;

    /** Secret in the namespace of this service. */
    public CertificateSecret(KubernetesClient client, ActiveLease active, String namespace) {
        this.client = client;
        this.active = active;
        this.namespace = namespace;
    }

    @Override
    public Optional<StoredCertificate> load() throws ApiServerException {
        try {
            Secret secret =
                    client.secrets().inNamespace(namespace).withName(NAME).get();
            return secret == null ? Optional.empty() : Optional.of(read(secret));
        } catch (KubernetesClientException failed) {
            throw new ApiServerException(
                    "Secret " + namespace + "/" + NAME + ": " + ApiErrorMessage.of(failed), failed);
        }
    }

    private static StoredCertificate read(Secret secret) {
        Map<String, String> files = new TreeMap<>();
        if (secret.getData() != null) {
            secret.getData()
                    .forEach((name, value) ->
                            files.put(name, new String(Base64.getMimeDecoder().decode(value), UTF_8)));
        }
        return new StoredCertificate(files, secret.getMetadata().getResourceVersion());
    }

    @Override
    public boolean save(Map<String, String> files, String version) throws ApiServerException {
        Map<String, String> data = new TreeMap<>();
        files.forEach((name, text) -> data.put(name, Base64.getEncoder().encodeToString(text.getBytes(UTF_8))));
        Secret secret = new SecretBuilder()
                .withNewMetadata()
                .withName(NAME)
                .withNamespace(namespace)
                .withResourceVersion(version.isEmpty() ? null : version)
                .addToLabels("app.kubernetes.io/part-of", "gpufleet")
                .endMetadata()
                .withType("Opaque")
                .withData(data)
                .build();
        var secrets = client.secrets().inNamespace(namespace).resource(secret);
        if (!active.held()) {
            return false;
        }
        try {
            if (version.isEmpty()) {
                secrets.create();
            } else {
                secrets.update();
            }
            return true;
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == CONFLICT) {
                return false;
            }
            if (failed.getCode() == NOT_FOUND) {
                active.require("namespace " + namespace);
                NamespaceCreator.create(client, namespace);
                return false;
            }
            throw new ApiServerException(
                    "Secret " + namespace + "/" + NAME + ": " + ApiErrorMessage.of(failed), failed);
        }
    }
}
