package io.gpufleet.health;

import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.health.kubernetes.ManifestRights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;

/** A ServiceAccount of the cluster under test with the rights of the service's manifest only. */
final class TestServiceAccount implements AutoCloseable {
    private static final String NAMESPACE = "default";

    private final ManifestRights rights;
    private final String name;

    private TestServiceAccount(ManifestRights rights, String name) {
        this.rights = rights;
        this.name = name;
    }

    static TestServiceAccount create(String name) throws IOException {
        var account = new TestServiceAccount(
                ManifestRights.grant(
                        "system:serviceaccount:" + NAMESPACE + ":" + name,
                        List.of("k8s/base/services/health-service/rbac.yaml")),
                name);
        account.admin()
                .serviceAccounts()
                .inNamespace(NAMESPACE)
                .resource(new ServiceAccountBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .build())
                .createOr(edit -> edit.update());
        return account;
    }

    /** Client of an administrator. */
    KubernetesClient admin() {
        return rights.admin();
    }

    /** A token for an hour. */
    String token() {
        return admin().serviceAccounts()
                .inNamespace(NAMESPACE)
                .withName(name)
                .tokenRequest(new TokenRequestBuilder()
                        .withNewSpec()
                        .withExpirationSeconds(3_600L)
                        .endSpec()
                        .build())
                .getStatus()
                .getToken();
    }

    /** Writes a kubeconfig of it. */
    Path kubeconfig(Path file) throws IOException {
        return Files.writeString(file, """
                apiVersion: v1
                kind: Config
                clusters: [{name: it, cluster: {server: "%s", certificate-authority-data: %s}}]
                users: [{name: it, user: {token: "%s"}}]
                contexts: [{name: it, context: {cluster: it, user: it}}]
                current-context: it
                """.formatted(
                        admin().getMasterUrl(),
                        Base64.getEncoder().encodeToString(ClusterTrust.authority(admin().getConfiguration())),
                        token()));
    }

    @Override
    public void close() {
        admin().serviceAccounts().inNamespace(NAMESPACE).withName(name).delete();
        rights.close();
    }
}
