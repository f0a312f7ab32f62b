package io.gpufleet.cli.drill;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.gpufleet.cli.cluster.WebhookClient;
import io.gpufleet.cli.fleet.FleetPlan;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.CompletionException;

/** The quota webhook of the fleet and the Secret with its certificate. Every method blocks. */
final class DrillWebhook {
    private static final String SECRET = "gpufleet-webhook";
    /** Ended in 2020, and signed by a key that is gone. */
    private static final String EXPIRED = "/expired.crt";

    private final KubernetesClient client;

    DrillWebhook(KubernetesClient client) {
        this.client = client;
    }

    private Resource<Secret> secret() {
        return client.secrets().inNamespace(FleetPlan.NAMESPACE).withName(SECRET);
    }

    void deleteSecret() {
        secret().delete();
    }

    /** Puts an expired certificate in the place of the CA's and of the server's. */
    void expireCertificates() {
        String expired = Base64.getEncoder().encodeToString(expired());
        secret().edit(secret -> {
            secret.getData().put("ca.crt", expired);
            secret.getData().put("tls.crt", expired);
            return secret;
        });
    }

    private static byte[] expired() {
        try (InputStream file = DrillWebhook.class.getResourceAsStream(EXPIRED)) {
            return Optional.ofNullable(file).orElseThrow().readAllBytes();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** A client as the API server is one. */
    WebhookClient client() {
        return WebhookClient.of(client);
    }

    /** True where a review is answered by what the API server trusts, and the Secret has a valid certificate. */
    boolean isSound() {
        if (!WebhookClient.isRegistered(client) || !hasValidSecret()) {
            return false;
        }
        try (WebhookClient webhook = client()) {
            return webhook.review(review(0)).join();
        } catch (CompletionException unanswered) {
            return false;
        }
    }

    private boolean hasValidSecret() {
        Secret found = secret().get();
        String certificate = found == null ? "" : found.getData().getOrDefault("tls.crt", "");
        try {
            var parsed = CertificateFactory.getInstance("X.509")
                    .generateCertificate(
                            new ByteArrayInputStream(Base64.getDecoder().decode(certificate)));
            if (parsed instanceof X509Certificate valid) {
                valid.checkValidity();
                return true;
            }
            return false;
        } catch (CertificateException absentOrExpired) {
            return false;
        }
    }

    /** Asks about a pod with one GPU that is not made; {@code number} tells it from others. */
    static String review(int number) {
        return """
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "drill-%1$d",
            "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE", "dryRun": true,
            "namespace": "gpufleet-drill", "object": {
            "metadata": {"name": "drill-%1$d", "namespace": "gpufleet-drill", "uid": "drill-pod-%1$d"},
            "spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}}}
            """.formatted(number);
    }
}
