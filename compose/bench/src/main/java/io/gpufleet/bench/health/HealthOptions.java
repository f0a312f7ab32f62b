package io.gpufleet.bench.health;

import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Path;

/**
 * Size and kind of a {@code bench health}, and its cluster.
 *
 * @param nodes number of nodes, each with 8 GPUs
 * @param backlog number of events that wait when the service starts; with 0 something else is measured
 * @param rate events a second with which the search for the highest rate at flat lag begins; with 0 something else is measured
 * @param replay whether the replay of a week is measured, and nothing else
 * @param kubeconfig kubeconfig of a cluster; empty: a fake API server
 * @param besideGpuNodes whether that cluster may have other Nodes with GPUs
 */
public record HealthOptions(
        int nodes, int backlog, int rate, boolean replay, String kubeconfig, boolean besideGpuNodes) {
    /** As many nodes as fail at the highest rate. */
    static final int MIN_NODES = 500;

    /** Makes the path absolute. */
    public HealthOptions {
        kubeconfig =
                kubeconfig.isEmpty() ? "" : Path.of(kubeconfig).toAbsolutePath().toString();
    }

    boolean usesFakeApiServer() {
        return kubeconfig.isEmpty();
    }

    /** Fails where a number does not fit, or the kubeconfig cannot be read. */
    void check() {
        if (nodes < MIN_NODES) {
            throw new ConfigurationException("--nodes " + nodes + " is not usable: it takes " + MIN_NODES + " or more");
        }
        if (backlog != 0 && backlog < nodes) {
            throw new ConfigurationException("--backlog " + backlog
                    + " is not usable: it takes an event or more of each of the " + nodes + " nodes");
        }
        if (rate < 0) {
            throw new ConfigurationException("--rate " + rate + " is not usable: it takes 1 or more");
        }
        if (!usesFakeApiServer()) {
            KubernetesCluster.of(Path.of(kubeconfig)).close();
        }
    }
}
