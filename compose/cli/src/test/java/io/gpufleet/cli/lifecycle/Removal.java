package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.cli.install.NamedObjects;
import io.gpufleet.testbed.testkit.RealCluster;
import java.util.List;

/** The purge and the delete of an installation, in both orders, with a failed GPU and an enforced namespace. */
final class Removal {
    private static final String QUOTA = "gpufleet.io/quota";
    private static final String ENFORCED = "enforced.quota.gpufleet.io";
    /** The definition of quotas and the object that the API server makes for its group. */
    private static final List<String> DEFINITION =
            List.of("CustomResourceDefinition gpuquotas.gpufleet.io", "APIService v1alpha1.gpufleet.io");

    private Removal() {}

    /** The purge removes every applied field, and the command line can repeat it. */
    static void purge(Installation installation, InstalledNode node, String namespace) throws Exception {
        node.failAndAwaitFields();
        node.awaitField(InstalledNode.GPU_TAINT);

        installation.purge();

        assertThat(installation.appliedFields()).isEmpty();
        assertThat(installation.policies()).isEmpty();
        assertThat(installation.labels(namespace)).doesNotContainKey(QUOTA);
        assertThat(Installation.purgeByCommandLine()).isZero();
        assertThat(installation.appliedFields()).isEmpty();
        node.recover(3);
    }

    /** The delete leaves no webhook and no object but the quotas and what the Node has. */
    static void deleteBeforeThePurge(
            RealCluster cluster, Installation installation, InstalledNode node, NamedObjects before, String namespace)
            throws Exception {
        node.failAndAwaitFields();
        node.awaitField(InstalledNode.GPU_TAINT);
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(installation.policies()).containsEntry(ENFORCED, "Fail"));
        assertThat(installation.labels(namespace)).containsEntry(QUOTA, "enforce");

        installation.delete();

        assertThat(NamedObjects.now(cluster.client()).since(before)).isSubsetOf(DEFINITION);
        assertThat(Kubectl.run("get", "gpuquotas", "-o", "name")).contains("gpufleet-it-installed");
        assertThat(installation.appliedFields())
                .containsKeys(
                        InstalledNode.TAINT,
                        InstalledNode.GPU_TAINT,
                        "label nvidia.com/gpu.count",
                        "condition GpuUnhealthy");
        // A GPU pod of the namespace that is labelled still is admitted again
        assertThat(installation.labels(namespace)).containsEntry(QUOTA, "enforce");
        var pods = cluster.client().pods().inNamespace(namespace);
        pods.resource(RealCluster.pod(namespace, "later", 3, "true")).dryRun().create();
    }

    /** A purge that was forgotten removes what a delete left; then the definition goes, and nothing is left. */
    static void purgeAfterTheDelete(
            RealCluster cluster, Installation installation, NamedObjects before, String namespace) {
        assertThat(installation.appliedFields()).containsKeys(InstalledNode.TAINT, InstalledNode.GPU_TAINT);

        installation.purge();

        assertThat(installation.appliedFields()).isEmpty();
        assertThat(installation.labels(namespace)).doesNotContainKey(QUOTA);

        installation.deleteDefinition();

        // The API server removes its own object of the group a little later
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(
                        () -> assertThat(NamedObjects.now(cluster.client()).since(before))
                                .isEmpty());
        assertThat(Kubectl.run("api-resources", "--api-group=gpufleet.io", "-o", "name"))
                .doesNotContain("gpuquotas");
    }
}
