package io.gpufleet.cli.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of k8s/docs/migration.md, on a DaemonSet that has the name of NVIDIA's and does nothing. */
class MigrationPageClusterIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Pattern COMMAND =
            Pattern.compile("(?s)   ```\n(.*?)\n   ```|`(kubectl label node NODE [^`]*)`");

    @TempDir
    Path directory;

    private RealCluster cluster;

    @BeforeEach
    void deploy() throws IOException {
        cluster = RealCluster.open();
        Path manifest = Files.writeString(directory.resolve("plugin.yaml"), """
                apiVersion: apps/v1
                kind: DaemonSet
                metadata: {name: nvidia-device-plugin-daemonset, namespace: kube-system}
                spec:
                  selector: {matchLabels: {name: nvidia-device-plugin-ds}}
                  template:
                    metadata: {labels: {name: nvidia-device-plugin-ds}}
                    spec:
                      nodeSelector: {kubernetes.io/hostname: NODE}
                      terminationGracePeriodSeconds: 0
                      containers:
                        - {name: plugin, image: "testbed/busybox:1", command: [sleep, "3600"]}
                """.replace("NODE", cluster.nodeName()));
        Kubectl.run("apply", "-f", manifest.toString());
    }

    @AfterEach
    void remove() {
        Kubectl.run("-n", "kube-system", "delete", "daemonset", "nvidia-device-plugin-daemonset");
        Kubectl.run("label", "node", cluster.nodeName(), "example.com/gpufleet-");
        cluster.close();
    }

    @Test
    void nodeWithTheLabelIsLeftOutUntilItIsTakenAway() throws Exception {
        var commands = COMMAND.matcher(Files.readString(Repository.module("k8s/docs/migration.md")))
                .results()
                .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
                .toList();
        assertThat(commands).hasSize(3);

        shell(commands.getFirst());
        awaitPods(1);
        shell(commands.get(1));
        awaitPods(0);
        shell(commands.getLast());
        awaitPods(1);
    }

    private void awaitPods(int count) {
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(cluster.client()
                                .pods()
                                .inNamespace("kube-system")
                                .withLabel("name", "nvidia-device-plugin-ds")
                                .list()
                                .getItems())
                        .hasSize(count)
                        .allMatch(pod -> pod.getStatus().getPhase().equals("Running")));
    }

    private void shell(String command) throws Exception {
        String line = command.replace("NODE", cluster.nodeName());
        Process bash = new ProcessBuilder(
                        "bash", "-c", "kubectl() { '" + RealCluster.executable() + "' kubectl \"$@\"; }; " + line)
                .redirectErrorStream(true)
                .start();
        String output = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(line + ": " + output).isZero();
    }
}
