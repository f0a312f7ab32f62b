package io.gpufleet.health;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.health.kubernetes.ManifestRights;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A ServiceAccount of the cluster under test with the rights of the service's manifest only, for the program. */
final class TestServiceAccount implements AutoCloseable {
    private final ManifestRights rights;

    private TestServiceAccount(ManifestRights rights) {
        this.rights = rights;
    }

    static TestServiceAccount create(String name) throws IOException {
        return new TestServiceAccount(
                ManifestRights.grant(name, List.of("k8s/base/services/health-service/rbac.yaml")));
    }

    /** Client of an administrator. */
    KubernetesClient admin() {
        return rights.admin();
    }

    /** A token for an hour. */
    String token() {
        return rights.token();
    }

    /** Writes a kubeconfig of it. */
    Path kubeconfig(Path file) throws IOException {
        return rights.kubeconfig(file);
    }

    @Override
    public void close() {
        rights.close();
    }
}
