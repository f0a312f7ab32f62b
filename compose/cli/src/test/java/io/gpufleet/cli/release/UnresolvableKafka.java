package io.gpufleet.cli.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.RealCluster;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;

/** The daemon of an installation with a Kafka whose name nothing resolves, and with its own again. */
public final class UnresolvableKafka {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final String KAFKA = "no-such.invalid:9092";
    private static final String UNRESOLVABLE = "gpufleet_daemon_broker_unresolvable";
    private static final String CONNECTS = "gpufleet_daemon_broker_connects_total";
    /** Its producer and its consumer, each with one line. */
    private static final int CLIENTS = 2;

    private UnresolvableKafka() {}

    /** The pod says why it is not ready, by a reason of its own kind and a metric, and does not fill its log. */
    public static void isNamedUntilItIsRight(Installation installation, RealCluster cluster)
            throws IOException, InterruptedException {
        String before = daemon(cluster).getMetadata().getUid();
        setKafka("GPUFLEET_KAFKA=" + KAFKA);
        try {
            await().atMost(TIMEOUT).ignoreExceptions().untilAsserted(() -> {
                assertThat(daemon(cluster).getMetadata().getUid()).isNotEqualTo(before);
                // Each has tried it several times
                assertThat(installation.metrics().ofDaemon(CONNECTS)).isGreaterThanOrEqualTo(2 * CLIENTS);
            });
            assertThat(installation.metrics().ofDaemon(UNRESOLVABLE)).isEqualTo(1);
            assertThat(ready(daemon(cluster))).isFalse();
            assertThat(readiness(daemon(cluster)))
                    .contains("Kafka: no name of '" + KAFKA + "' can be resolved; check GPUFLEET_KAFKA");
            assertThat(log(daemon(cluster)).lines().filter(line -> line.contains(KAFKA)))
                    .as(log(daemon(cluster)))
                    .hasSizeBetween(1, CLIENTS)
                    .allMatch(line -> line.contains("broker unreachable"))
                    .doesNotHaveDuplicates();
            // Pods get their GPUs meanwhile
            assertThat(cluster.allocatableGpus()).isEqualTo(8);
        } finally {
            setKafka("GPUFLEET_KAFKA-");
        }
        Kubectl.run("-n", Installation.NODES, "rollout", "status", "daemonset/node-daemon", "--timeout=120s");
        assertThat(installation.metrics().ofDaemon(UNRESOLVABLE)).isZero();
    }

    private static void setKafka(String variable) {
        Kubectl.run("-n", Installation.NODES, "set", "env", "daemonset/node-daemon", variable);
    }

    private static Pod daemon(RealCluster cluster) {
        List<Pod> pods = cluster.client()
                .pods()
                .inNamespace(Installation.NODES)
                .withLabel("app.kubernetes.io/name", "node-daemon")
                .list()
                .getItems();
        assertThat(pods).hasSize(1);
        return pods.getFirst();
    }

    private static boolean ready(Pod pod) {
        return pod.getStatus().getConditions().stream()
                .anyMatch(condition -> condition.getType().equals("Ready")
                        && condition.getStatus().equals("True"));
    }

    /** What it answers to the kubelet. */
    private static String readiness(Pod pod) throws IOException, InterruptedException {
        try (var client = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(
                            URI.create("http://" + pod.getStatus().getPodIP() + ":9400/readyz"))
                    .build();
            return client.send(request, BodyHandlers.ofString()).body();
        }
    }

    private static String log(Pod pod) {
        return Kubectl.run("-n", Installation.NODES, "logs", pod.getMetadata().getName());
    }
}
