package io.gpufleet.cli.install;

import static io.gpufleet.cli.install.Installation.NODES;
import static io.gpufleet.cli.install.Installation.SERVICES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.cli.GpufleetCommand;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** From an empty cluster to an installation from k8s/, its work, and an empty cluster again. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class InstallClusterIT {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final Duration EFFECT = Duration.ofSeconds(60);
    private static final List<String> SERVICE_NAMES =
            List.of("inventory-service", "health-service", "allocation-service");
    private static final String TEAM = "gpufleet-it-installed";
    /** Below the hostPath that the daemon mounts. */
    private static final Path FAULTS = Path.of("/run/gpufleet/it-faults");

    @TempDir
    static Path directory;

    private static RealCluster cluster;
    private static BrokerProcess broker;
    private static SimulatedFaults faults;
    private static Installation installation;

    @BeforeAll
    static void install() throws Exception {
        cluster = RealCluster.open();
        TestImages.load(directory);
        broker = BrokerProcess.startOn(directory.resolve("kafka"), nodeAddress());
        faults = new SimulatedFaults(FAULTS);
        installation = Installation.write(cluster, directory, broker.remoteBootstrap(), FAULTS);
        installation.apply();
    }

    @AfterAll
    static void remove() {
        if (installation != null) {
            installation.delete();
            Kubectl.run("delete", "namespace", TEAM, "--ignore-not-found", "--wait=false");
            Kubectl.run("delete", "gpuquota", "gpufleet-it-installed", "--ignore-not-found");
        }
        if (broker != null) {
            broker.close();
        }
        cluster.close();
    }

    @Test
    @Order(1)
    void everythingBecomesReadyWithoutRestarts() {
        for (String service : SERVICE_NAMES) {
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(ready(service)).as(service).isEqualTo(2));
        }
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(8));
        assertThat(installation.restarts(SERVICES)).isZero();
        assertThat(installation.restarts(NODES)).isZero();
    }

    @Test
    @Order(2)
    void gpuPodRunsAndNodeIsLabelled() {
        cluster.runPod("default", "gpufleet-it-installed", 1, "echo devices=$NVIDIA_VISIBLE_DEVICES");

        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.podState("default", "gpufleet-it-installed"))
                        .startsWith("Succeeded"));
        assertThat(cluster.podLog("default", "gpufleet-it-installed")).matches("devices=GPU-[0-9a-f-]{36}\\s*");
        cluster.deletePod("default", "gpufleet-it-installed");
        await().atMost(EFFECT)
                .untilAsserted(
                        () -> assertThat(cluster.label("nvidia.com/gpu.count")).isEqualTo("8"));
    }

    @Test
    @Order(3)
    void webhookIsEnforcedOnceItAnswersAndRefusesPodOverQuota() {
        cluster.client()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(TEAM)
                        .endMetadata()
                        .build())
                .create();
        cluster.client()
                .load(getClass().getResourceAsStream("/gpufleet-it-installed-quota.yaml"))
                .createOrReplace();
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(policies())
                        .containsEntry("enforced.quota.gpufleet.io", "Fail")
                        .containsEntry("open.quota.gpufleet.io", "Ignore")
                        .containsEntry("claims-enforced.quota.gpufleet.io", "Fail")
                        .containsEntry("claims-open.quota.gpufleet.io", "Ignore"));
        var pods = cluster.client().pods().inNamespace(TEAM);

        await().atMost(EFFECT)
                .untilAsserted(() -> assertThatThrownBy(() -> pods.resource(RealCluster.pod(TEAM, "too-big", 3, "true"))
                                .dryRun()
                                .create())
                        .isInstanceOf(KubernetesClientException.class)
                        .hasMessageContaining("gpufleet-it"));
        pods.resource(RealCluster.pod(TEAM, "fits", 2, "true")).create();
    }

    @Test
    @Order(5)
    void drainTakesOneReplicaAtTheTime() {
        var once = new ConfigBuilder(cluster.client().getConfiguration()).withRequestRetryBackoffLimit(0);
        try (var client = new KubernetesClientBuilder().withConfig(once.build()).build()) {
            var pods = client.pods().inNamespace(SERVICES);

            assertThat(pods.withName("inventory-service-0").evict()).isTrue();

            // Then the other one stays: the API server answers 429, after which a client would try again and succeed
            // later
            assertThat(pods.withName("inventory-service-1").evict()).isFalse();
        }
    }

    @Test
    @Order(4)
    void doctorFindsNothingThatFails() {
        assertThat(GpufleetCommand.commandLine()
                        .execute(
                                "doctor",
                                "--cluster",
                                "--kubeconfig",
                                RealCluster.kubeconfig().toString()))
                .isZero();
    }

    @Test
    @Order(6)
    void rollingUpdateDisturbsNoRunningPodAndRefusesNoNewOne() throws Exception {
        cluster.runPod("default", "gpufleet-it-training", 4, "sleep 3600");
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.podState("default", "gpufleet-it-training"))
                        .startsWith("Running"));
        cluster.deletePod(TEAM, "fits");
        String before = cluster.podState("default", "gpufleet-it-training");

        try (var pods = new AdmittedPods(cluster.client().getConfiguration(), TEAM)) {
            Kubectl.roll(NODES, "daemonset/node-daemon");
            await().atMost(EFFECT)
                    .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(8));
            for (String service : SERVICE_NAMES) {
                Kubectl.roll(SERVICES, "statefulset/" + service);
            }

            assertThat(pods.refused()).isEmpty();
            assertThat(pods.admitted()).isPositive();
        }
        assertThat(cluster.podState("default", "gpufleet-it-training")).isEqualTo(before);
        cluster.deletePod("default", "gpufleet-it-training");
    }

    @Test
    @Order(7)
    void servicesStartBesideUnhealthyGpuAndLiftTheTaint() throws Exception {
        faults.inject(3, 79);
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(installation.marks()).containsKey("taint gpufleet.io/unhealthy"));
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(7));

        // When the policy becomes one of a file: the ConfigMap of the settings has another name, so the pods are
        // replaced, on the tainted node
        Kubectl.run(
                "-n",
                SERVICES,
                "create",
                "configmap",
                "health-service-files",
                "--from-literal=policy.yaml=policy: site\nextends: nvidia\n");
        installation.changeSetting("GPUFLEET_POLICY=/etc/gpufleet/policy.yaml, GPUFLEET_SHADOW_POLICY=aggressive");
        Kubectl.run("-n", SERVICES, "rollout", "status", "statefulset/health-service", "--timeout=150s");
        faults.clear(3);

        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(installation.marks()).doesNotContainKey("taint gpufleet.io/unhealthy"));
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(8));
    }

    @Test
    @Order(8)
    void purgeRemovesEveryMarkAndIsRepeatable() throws Exception {
        faults.inject(3, 79);
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(installation.marks())
                        .containsKey("taint gpufleet.io/unhealthy")
                        .containsKey("label nvidia.com/gpu.count")
                        .containsKey("condition GpuUnhealthy"));

        Kubectl.run("apply", "-k", Repository.module("k8s/purge").toString());
        Kubectl.run("-n", "gpufleet-purge", "wait", "--for=condition=complete", "job/purge", "--timeout=3m");

        assertThat(installation.marks()).isEmpty();
        assertThat(policies()).isEmpty();
        assertThat(cluster.client()
                        .namespaces()
                        .withName(TEAM)
                        .get()
                        .getMetadata()
                        .getLabels())
                .doesNotContainKey("gpufleet.io/quota");
        // Then it can be repeated, here by the command line
        assertThat(GpufleetCommand.commandLine()
                        .execute(
                                "purge",
                                "--kubeconfig",
                                RealCluster.kubeconfig().toString()))
                .isZero();
        assertThat(installation.marks()).isEmpty();
        Kubectl.run("delete", "-k", Repository.module("k8s/purge").toString(), "--wait=false");
        faults.clear(3);
    }

    @Test
    @Order(9)
    void deleteLeavesNoWebhookAndKeepsTheQuotas() {
        installation.delete();

        assertThat(Kubectl.run("get", "validatingwebhookconfigurations,namespaces,clusterroles", "-o", "name"))
                .doesNotContain("gpufleet-quota", "gpufleet-system", "gpufleet-node", "gpufleet-allocation-service");
        assertThat(Kubectl.run("get", "gpuquotas", "-o", "name")).contains("gpufleet-it-installed");
        assertThat(installation.marks()).isEmpty();
        // A GPU pod of the namespace that was enforced is admitted again
        var pods = cluster.client().pods().inNamespace(TEAM);
        pods.resource(RealCluster.pod(TEAM, "later", 3, "true")).dryRun().create();
    }

    private static int ready(String service) {
        var set = cluster.client()
                .apps()
                .statefulSets()
                .inNamespace(SERVICES)
                .withName(service)
                .get();
        return set.getStatus().getReadyReplicas() == null ? 0 : set.getStatus().getReadyReplicas();
    }

    /** Failure policies of the quota webhooks by name; empty without them. */
    private static Map<String, String> policies() {
        var found = cluster.client()
                .admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName("gpufleet-quota")
                .get();
        return found == null
                ? Map.of()
                : found.getWebhooks().stream()
                        .collect(Collectors.toMap(ValidatingWebhook::getName, ValidatingWebhook::getFailurePolicy));
    }

    private static String nodeAddress() {
        return cluster.node().getStatus().getAddresses().stream()
                .filter(address -> address.getType().equals("InternalIP"))
                .findFirst()
                .orElseThrow()
                .getAddress();
    }
}
