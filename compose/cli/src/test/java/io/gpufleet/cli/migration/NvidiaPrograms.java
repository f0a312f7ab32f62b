package io.gpufleet.cli.migration;

import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.FakeForeignPlugin;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.nio.file.Path;
import java.util.List;

/** Stand-ins for NVIDIA's programs: DaemonSets of their names, whose pods decide when the plugin and feature discovery run. */
final class NvidiaPrograms implements AutoCloseable {
    private static final Path PLUGINS = Path.of("/var/lib/kubelet/device-plugins");
    private static final String MANIFESTS = Repository.module("compose/cli/src/test/resources")
            .resolve("gpufleet-it-nvidia.yaml")
            .toString();
    /** Without which feature discovery has no pod on a node. */
    private static final String FOUND = "feature.node.kubernetes.io/pci-10de.present";

    private final RealCluster cluster;
    private final FeatureDiscovery discovery;
    private final PodsOfAnother plugin;

    /** Follows the pods of the DaemonSets; none runs before {@link #apply}. */
    NvidiaPrograms(RealCluster cluster, List<String> uuids) {
        this.cluster = cluster;
        this.discovery = new FeatureDiscovery(cluster);
        this.plugin = new PodsOfAnother(
                cluster.client(),
                "kube-system",
                "nvidia-device-plugin-ds",
                () -> FakeForeignPlugin.register(PLUGINS, "nvidia.com/gpu", uuids));
    }

    /** Installs them as their manifests are, without what the page patches. */
    void apply() {
        Kubectl.run("label", "node", cluster.nodeName(), FOUND + "=true", "--overwrite");
        Kubectl.run("apply", "-f", MANIFESTS);
    }

    @Override
    public void close() {
        plugin.close();
        discovery.close();
        Kubectl.run("delete", "-f", MANIFESTS, "--ignore-not-found");
        Kubectl.run("label", "node", cluster.nodeName(), FOUND + "-", "example.com/gpufleet-");
    }
}
