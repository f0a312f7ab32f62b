package io.gpufleet.cli;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.cli.cluster.ClusterPurge;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Removes what gpufleet has set on a cluster's objects, before it is deleted. */
@Command(
        name = "purge",
        description = "Remove what gpufleet has set in a cluster: webhook, taints, labels, conditions, annotations.",
        mixinStandardHelpOptions = true)
final class PurgeCommand implements Runnable {
    @Mixin
    private ClusterOption cluster = new ClusterOption();

    @Option(
            names = "--namespace",
            description = "namespace of the services, which are stopped first [${DEFAULT-VALUE}]")
    private String namespace = "gpufleet-system";

    @Override
    public void run() {
        var lines = new AtomicInteger();
        try (KubernetesCluster its = cluster.open()) {
            new ClusterPurge(its.client(), line -> {
                        lines.incrementAndGet();
                        System.out.println(line);
                    })
                    .run(namespace);
        } catch (KubernetesClientException refused) {
            throw new ConfigurationException(
                    "not everything was removed: " + ApiErrorMessage.of(refused) + "; repeat it");
        }
        System.out.println(
                lines.get() == 0
                        ? "nothing to remove"
                        : "purged; quotas and their definition stay: kubectl delete -k k8s/base/crds deletes both");
    }
}
