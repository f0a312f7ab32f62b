package io.gpufleet.cli.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.testkit.RealCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on the API server of GPUFLEET_TEST_KUBECONFIG. */
class InterruptedPurgeClusterIT implements InterruptedPurgeContract {
    private static RealCluster cluster;

    @BeforeAll
    static void open() {
        cluster = RealCluster.open();
    }

    @AfterAll
    static void close() {
        cluster.client().namespaces().withName(InstalledObjects.NAMESPACE).delete();
        cluster.close();
    }

    @Override
    public KubernetesClient client() {
        return cluster.client();
    }
}
