package io.gpufleet.cli;

import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The option {@code --kubeconfig} of commands on a cluster in which gpufleet is installed. */
final class ClusterOption {
    private static final Path SERVICE_ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount/token");

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "the cluster [KUBECONFIG, else ~/.kube/config, in a pod its service account]")
    private String kubeconfig = Optional.ofNullable(System.getenv("KUBECONFIG")).orElse("");

    /** Connects; the caller closes. */
    KubernetesCluster open() {
        if (kubeconfig.isEmpty() && Files.isReadable(SERVICE_ACCOUNT)) {
            return KubernetesCluster.ofPod();
        }
        return KubernetesCluster.of(file());
    }

    private Path file() {
        if (kubeconfig.isEmpty()) {
            return Path.of(System.getProperty("user.home", ""), ".kube", "config");
        }
        // KUBECONFIG may be a list; the first readable file is used.
        for (String each : kubeconfig.split(File.pathSeparator, -1)) {
            if (Files.isReadable(Path.of(each))) {
                return Path.of(each).toAbsolutePath();
            }
        }
        throw new ConfigurationException(
                "kubeconfig '" + kubeconfig + "' cannot be read; name another file with --kubeconfig");
    }
}
