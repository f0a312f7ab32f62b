package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.RealCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The last two stages of docs/stages.md, by one quota: who creates a pod over it is warned, and then refused. */
final class QuotaStages {
    private static final String QUOTA = "gpufleet-it-installed";

    private QuotaStages() {}

    /** From the mode Warn, in which the quota is, to Enforce, as {@code kubectl} shows it to the creator of the pod. */
    static void pass(Path directory, String namespace) throws IOException {
        Path pod = directory.resolve("too-big.yaml");
        Files.writeString(pod, Serialization.asYaml(RealCluster.pod(namespace, "too-big", 3, "true")));
        await().atMost(InstalledNode.EFFECT).untilAsserted(() -> {
            CommandOutput warned = create(pod);
            assertThat(warned.text()).contains("Warning: GpuQuota " + QUOTA + ": limit 2 H100");
            assertThat(warned.status()).as(warned.text()).isZero();
        });

        Kubectl.run("patch", "gpuquota", QUOTA, "--type=merge", "-p", "{\"spec\": {\"mode\": \"Enforce\"}}");

        await().atMost(InstalledNode.EFFECT).untilAsserted(() -> {
            CommandOutput refused = create(pod);
            // By the webhook of enforced namespaces, once the service has labelled this one: Events have the first
            // refusal only
            assertThat(refused.text())
                    .contains("enforced.quota.gpufleet.io", "denied the request: GpuQuota " + QUOTA + ": limit 2 H100");
            assertThat(refused.status()).as(refused.text()).isNotZero();
        });
    }

    private static CommandOutput create(Path pod) {
        return Kubectl.tryRun("apply", "--dry-run=server", "-f", pod.toString());
    }
}
