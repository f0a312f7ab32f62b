package io.gpufleet.cli.manifests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * {@code kubectl drain} against the replicas and the PodDisruptionBudgets of the manifests, on two simulated nodes: the pods are
 * scheduled and evicted as real ones, only nothing runs in them.
 */
class DrainBudgetsClusterIT {
    private static final String NAMESPACE = "gpufleet-it-drain";
    private static final List<String> SERVICES = List.of("inventory-service", "health-service", "allocation-service");
    private static final List<String> NODES = List.of("kwok-0", "kwok-1");
    private static final Duration TIMEOUT = Duration.ofSeconds(120);

    private final RealCluster cluster = RealCluster.open();

    @BeforeEach
    void replicasOnTwoNodes() throws IOException {
        RealCluster.tool("kwok", Integer.toString(NODES.size()));
        Kubectl.run("create", "namespace", NAMESPACE);
        for (String service : SERVICES) {
            Kubectl.run("create", "serviceaccount", service, "-n", NAMESPACE);
            create(service);
        }
        awaitReady();
    }

    @AfterEach
    void remove() {
        Kubectl.run("delete", "namespace", NAMESPACE, "--wait=true", "--timeout=120s");
        RealCluster.tool("kwok", "0");
        cluster.close();
    }

    @Test
    void budgetsKeepOneReplicaOfEachServiceThroughDrains() {
        // Given one replica of each service on each node
        NODES.forEach(node -> assertThat(servicesOn(node)).containsExactlyInAnyOrderElementsOf(SERVICES));

        // When one node is drained
        CommandOutput first = drain(NODES.getFirst(), "60s");

        // Then its replicas move to the only host that is left
        assertThat(first.status()).as(first.text()).isZero();
        awaitReplicasOn(NODES.getLast());

        // When that one is drained as well
        CommandOutput second = drain(NODES.getLast(), "10s");

        // Then the budgets keep one replica of each service
        assertThat(second.status()).as(second.text()).isNotZero();
        SERVICES.forEach(service -> assertThat(second.text().lines())
                .as(second.text())
                .anyMatch(line -> line.contains(service) && line.contains("violate the pod's disruption budget")));
        assertThat(servicesOn(NODES.getLast())).containsExactlyInAnyOrderElementsOf(SERVICES);

        // When the first node is back, and replicas are ready on it
        Kubectl.run("uncordon", NODES.getFirst());
        awaitReady();

        // Then the other one can be drained
        // An eviction that the second one gave up after it was granted counts for 2 min, the DeletionTimeout of
        // Kubernetes.
        CommandOutput third = drain(NODES.getLast(), "180s");
        assertThat(third.status()).as(third.text()).isZero();
        awaitReplicasOn(NODES.getFirst());
    }

    private void awaitReady() {
        await().atMost(TIMEOUT).until(() -> readyPods().size() == NODES.size() * SERVICES.size());
    }

    private void awaitReplicasOn(String node) {
        awaitReady();
        assertThat(readyPods()).extracting(pod -> pod.getSpec().getNodeName()).containsOnly(node);
    }

    /** StatefulSet and budget of a service as in the base, its pods bound to the simulated nodes. */
    private void create(String service) throws IOException {
        var file = Repository.module("k8s").resolve("base/services/" + service + "/statefulset.yaml");
        try (InputStream yaml = Files.newInputStream(file)) {
            for (HasMetadata object : cluster.client().load(yaml).items()) {
                if (object instanceof StatefulSet replicas) {
                    bind(replicas);
                    cluster.client().resource(replicas).inNamespace(NAMESPACE).create();
                } else if (object instanceof PodDisruptionBudget budget) {
                    cluster.client().resource(budget).inNamespace(NAMESPACE).create();
                }
            }
        }
    }

    private static void bind(StatefulSet replicas) {
        var pod = replicas.getSpec().getTemplate().getSpec();
        pod.setNodeSelector(Map.of("type", "kwok"));
        Toleration simulated = new TolerationBuilder()
                .withKey("kwok.x-k8s.io/node")
                .withOperator("Exists")
                .build();
        pod.getTolerations().add(simulated);
    }

    private static CommandOutput drain(String node, String timeout) {
        return Kubectl.tryRun(
                "drain",
                node,
                "--ignore-daemonsets",
                "--delete-emptydir-data",
                "--timeout=" + timeout,
                "--pod-selector",
                "app.kubernetes.io/part-of=gpufleet");
    }

    private List<Pod> readyPods() {
        return cluster.client().pods().inNamespace(NAMESPACE).list().getItems().stream()
                .filter(Readiness::isPodReady)
                .toList();
    }

    private List<String> servicesOn(String node) {
        return cluster.client().pods().inNamespace(NAMESPACE).list().getItems().stream()
                .filter(pod -> node.equals(pod.getSpec().getNodeName()))
                .map(pod -> pod.getMetadata().getLabels().get("app.kubernetes.io/name"))
                .toList();
    }
}
