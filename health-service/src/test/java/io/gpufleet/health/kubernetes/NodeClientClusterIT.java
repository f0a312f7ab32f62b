package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Contracts on the API server of GPUFLEET_TEST_KUBECONFIG, with the rights of the service's manifest only. */
class NodeClientClusterIT implements NodeClientContract, NodePatchContract, NodeTaintContract {
    private static ManifestRights rights;

    @BeforeAll
    static void open() throws IOException {
        rights = ManifestRights.grant(NODE, List.of("k8s/base/services/health-service/rbac.yaml"));
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

    @Test
    void theServiceMayNotDeleteTheNode() {
        assertThatThrownBy(() -> service().nodes().withName(NODE).delete())
                .isInstanceOfSatisfying(
                        KubernetesClientException.class,
                        refused -> assertThat(refused.getCode()).isEqualTo(403));
    }
}
