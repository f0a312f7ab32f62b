package io.gpufleet.cli.secured;

import static io.gpufleet.cli.install.Installation.NODES;
import static io.gpufleet.cli.install.Installation.SERVICES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpufleet.cli.fleet.DirectoryTrees;
import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.cli.install.TestImages;
import io.gpufleet.cli.install.ViewerCommands;
import io.gpufleet.cli.network.PolicyEngine;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * An installation of overlays/production: Kafka by TLS, SCRAM and ACLs, and, where this machine has what enforces them, the
 * network policies, from before the first pod on.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SecuredInstallClusterIT {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final List<String> SERVICE_NAMES =
            List.of("inventory-service", "health-service", "allocation-service");
    private static final String TEAM = EnforcedQuota.NAME;
    /** Below the hostPath that the daemon mounts. */
    private static final Path FAULTS = Path.of("/run/gpufleet/it-secured-faults");
    /** Definitions of the Prometheus operator, which the component monitoring wants. */
    private static final String DEFINITIONS = Repository.module("compose/cli/src/test/resources")
            .resolve("gpufleet-it-monitoring-crds.yaml")
            .toString();

    @TempDir
    static Path directory;

    private static RealCluster cluster;
    private static SecuredKafka kafka;
    private static @Nullable PolicyEngine engine;
    private static Installation installation;
    private static InstalledNode node;

    @BeforeAll
    static void install() throws Exception {
        cluster = RealCluster.open();
        TestImages.load(directory);
        if (PolicyEngine.isHere()) {
            engine = PolicyEngine.start(cluster.nodeName(), directory.resolve("kube-router.log"));
        }
        Kubectl.run("apply", "-f", DEFINITIONS);
        Kubectl.run("wait", "--for=condition=Established", "--timeout=30s", "-f", DEFINITIONS);
        kafka = SecuredKafka.start(cluster, directory);
        kafka.createSecrets(directory);
        DirectoryTrees.delete(FAULTS);
        installation = ProductionOverlay.write(cluster, directory, FAULTS);
        node = new InstalledNode(cluster, new SimulatedFaults(FAULTS));
        installation.apply();
    }

    @AfterAll
    static void remove() throws Exception {
        Kubectl.run("delete", "namespace", TEAM, "--ignore-not-found", "--wait=false");
        if (installation != null) {
            Kubectl.run("delete", "gpuquota", EnforcedQuota.NAME, "--ignore-not-found");
            Installation.purgeByCommandLine();
            installation.delete();
        }
        if (kafka != null) {
            kafka.close();
        }
        Kubectl.run("delete", "-f", DEFINITIONS, "--ignore-not-found");
        if (engine != null) {
            engine.close();
        }
        DirectoryTrees.delete(FAULTS);
        cluster.close();
    }

    @Test
    @Order(1)
    void everythingBecomesReadyWithoutRestarts() {
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(ViewerCommands.logOfTheTopics(directory))
                        .contains("gpu.health-state")
                        .doesNotContainIgnoringCase("authoriz"));
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(SERVICE_NAMES)
                        .as(() ->
                                Kubectl.run("get", "pods,jobs", "-A", "-o", "wide") + SecuredInstallClusterIT.denied())
                        .allSatisfy(service ->
                                assertThat(installation.ready(service)).isEqualTo(3)));
        node.awaitGpus(8);
        node.awaitLabel("nvidia.com/gpu.count", "8");
        assertThat(restarts()).isEmpty();
    }

    @Test
    @Order(2)
    void faultTaintsTheNodeUntilItIsCleared() throws Exception {
        node.failAndAwaitFields();
        node.awaitGpus(7);

        node.recover(3);

        node.awaitNoTaint();
        node.awaitGpus(8);
    }

    /** Where the policies are enforced, their webhook's port is open to the API server. */
    @Test
    @Order(3)
    void apiServerAsksTheWebhook() {
        Kubectl.run("create", "namespace", TEAM);
        EnforcedQuota.refusesTheNextPod(cluster, installation);
    }

    @Test
    @Order(4)
    void brokerRefusedNothing() {
        assertThat(denied()).isEqualTo("[]");
    }

    @Test
    @Order(5)
    void podsOfOthersReachTheServicesOnlyWhereTheirNamespaceMay() {
        assumeTrue(engine != null, "nothing here enforces network policies");
        cluster.runPod(TEAM, "client", 0, "sleep 600");
        cluster.client().pods().inNamespace(TEAM).withName("client").waitUntilReady(60, TimeUnit.SECONDS);
        assertThat(connects("inventory-service", 8080)).isFalse();

        Kubectl.run("label", "namespace", TEAM, "gpufleet.io/reads=allowed");

        await().atMost(InstalledNode.EFFECT).until(() -> connects("inventory-service", 8080));
        // Nobody but the API server sends reviews
        assertThat(connects("allocation-service", 443)).isFalse();
    }

    /** True when the pod of the team comes to a Service. */
    private static boolean connects(String service, int port) {
        String command = "timeout 10 nc -w 3 %s.gpufleet-system %d </dev/null".formatted(service, port);
        return Kubectl.tryRun("-n", TEAM, "exec", "client", "--", "sh", "-c", command)
                        .status()
                == 0;
    }

    @Test
    @Order(6)
    void prometheusFindsEveryPodByThePodMonitors() throws Exception {
        ScrapedPods.awaitTargets(
                directory,
                Map.of("inventory-service", 3, "health-service", 3, "allocation-service", 3, "node-daemon", 1),
                cluster.nodeName());
    }

    @Test
    @Order(7)
    void serviceThatMissesARightNamesItAndGoesOnWithIt() throws Exception {
        MissingRight.isNamedUntilItIsThere(kafka, cluster, installation);
    }

    /** Restarted programs, each with its last words; the Job of the topics tries again by design. */
    private static List<String> restarts() {
        return Stream.of(SERVICES, NODES)
                .flatMap(namespace -> cluster.client().pods().inNamespace(namespace).list().getItems().stream())
                .filter(pod -> !pod.getMetadata().getName().startsWith("topics-"))
                .filter(pod -> pod.getStatus().getContainerStatuses().stream()
                        .anyMatch(container -> container.getRestartCount() > 0))
                .map(Pod::getMetadata)
                .map(pod -> pod.getName() + ": "
                        + Kubectl.tryRun("-n", pod.getNamespace(), "logs", "--previous", "--tail=20", pod.getName())
                                .text())
                .toList();
    }

    private static String denied() {
        try {
            return kafka.denied().toString();
        } catch (IOException failed) {
            throw new AssertionError(failed);
        }
    }
}
