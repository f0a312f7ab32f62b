package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Contract on the API server of GPUFLEET_TEST_KUBECONFIG, with the rights of the manifests only. */
class PodClientClusterIT implements PodClientContract {
    private static ManifestRights rights;

    @BeforeAll
    static void open() throws IOException {
        rights = ManifestRights.grant(
                NAME, List.of("k8s/base/services/health-service/rbac.yaml", "k8s/components/drain/rbac.yaml"));
    }

    @AfterAll
    static void close() {
        rights.close();
    }

    @Override
    public KubernetesClient client() {
        return rights.admin();
    }

    @Override
    public KubernetesClient service() {
        return rights.limited();
    }
}
