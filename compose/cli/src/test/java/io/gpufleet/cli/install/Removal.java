package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.testkit.RealCluster;

/** The purge and the delete of an installation, in both orders, with a failed GPU and an enforced namespace. */
final class Removal {
    private static final String QUOTA = "gpufleet.io/quota";
    private static final String ENFORCED = "enforced.quota.gpufleet.io";

    private Removal() {}

    /** The purge removes every applied field, and the command line can repeat it. */
    static void purge(Installation installation, InstalledNode node, String namespace) throws Exception {
        node.failAndAwaitFields();

        installation.purge();

        assertThat(installation.appliedFields()).isEmpty();
        assertThat(installation.policies()).isEmpty();
        assertThat(installation.labels(namespace)).doesNotContainKey(QUOTA);
        assertThat(Installation.purgeByCommandLine()).isZero();
        assertThat(installation.appliedFields()).isEmpty();
        node.recover(3);
    }

    /** The delete leaves no webhook, and the quotas; a purge afterwards removes what it left on the node. */
    static void deleteBeforeThePurge(
            RealCluster cluster, Installation installation, InstalledNode node, String namespace) throws Exception {
        node.failAndAwaitFields();
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(installation.policies()).containsEntry(ENFORCED, "Fail"));
        assertThat(installation.labels(namespace)).containsEntry(QUOTA, "enforce");

        installation.delete();

        assertThat(Kubectl.run("get", "validatingwebhookconfigurations,namespaces,clusterroles", "-o", "name"))
                .doesNotContain("gpufleet-quota", "gpufleet-system", "gpufleet-node", "gpufleet-allocation-service");
        assertThat(Kubectl.run("get", "gpuquotas", "-o", "name")).contains("gpufleet-it-installed");
        assertThat(installation.appliedFields())
                .containsKeys("taint gpufleet.io/unhealthy", "label nvidia.com/gpu.count", "condition GpuUnhealthy");
        // A GPU pod of the namespace that is labelled still is admitted again
        assertThat(installation.labels(namespace)).containsEntry(QUOTA, "enforce");
        var pods = cluster.client().pods().inNamespace(namespace);
        pods.resource(RealCluster.pod(namespace, "later", 3, "true")).dryRun().create();

        // When the purge was forgotten, it runs afterwards
        installation.purge();

        assertThat(installation.appliedFields()).isEmpty();
        assertThat(installation.labels(namespace)).doesNotContainKey(QUOTA);
    }
}
