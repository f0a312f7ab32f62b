package io.gpufleet.cli.install;

import static io.gpufleet.cli.install.Installation.NODES;
import static io.gpufleet.cli.install.Installation.SERVICES;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.cli.GpufleetCommand;
import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
        broker = BrokerProcess.startOn(directory.resolve("kafka"), Installation.nodeAddress(cluster));
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

        // When feature discovery leaves the node, it removes the label, and gpufleet writes it
        Kubectl.run("label", "node", cluster.nodeName(), "nvidia.com/gpu.count-");
        await().atMost(EFFECT)
                .untilAsserted(
                        () -> assertThat(cluster.label("nvidia.com/gpu.count")).isEqualTo("8"));
    }

    @Test
    @Order(3)
    void everySampleRuns() {
        Samples.run(cluster, "pods.yaml");
    }

    @Test
    @Order(4)
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
    void servicesSpeakTlsByTheCaThatClientsCanRead() throws Exception {
        ServiceHttps.verify(cluster.client(), directory.resolve("ca.crt"));
    }

    @Test
    @Order(6)
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
    @Order(5)
    void doctorFindsNothingThatFailsAndItsBundleHasNoSecret() throws IOException {
        Path bundle = directory.resolve("bundle.zip");

        assertThat(GpufleetCommand.commandLine()
                        .execute(
                                "doctor",
                                "--cluster",
                                "--bundle",
                                bundle.toString(),
                                "--kubeconfig",
                                RealCluster.kubeconfig().toString()))
                .isZero();

        Map<String, String> texts = Bundle.read(bundle);
        assertThat(texts)
                .containsKeys(
                        "doctor.txt",
                        "nodes.yaml",
                        "gpufleet-system/pods.yaml",
                        "gpufleet-system/logs/health-service-0.log",
                        "gpufleet-node/daemonsets.yaml")
                .allSatisfy((name, text) -> assertThat(text).as(name).doesNotContain("cannot be read"));
        assertThat(texts.values())
                .allSatisfy(text -> assertThat(text).doesNotContain(Bundle.secrets(cluster.client())));
        // The doctor of a node runs beside its daemon, within the memory of the container
        Kubectl.run("-n", NODES, "exec", "daemonset/node-daemon", "--", "/opt/gpufleet/bin/node-daemon", "doctor");
        assertThat(installation.restarts(NODES)).isZero();
    }

    @Test
    @Order(7)
    void nextReleaseAndBackMissNoFaultDisturbNoPodAndRefuseNone() throws Exception {
        String before = startTraining();
        cluster.deletePod(TEAM, "fits");

        try (var pods = new AdmittedPods(cluster.client().getConfiguration(), TEAM)) {
            // When a GPU fails while the services are replaced
            int failing = gpuWithoutHolder();
            faults.inject(failing, 79);
            installation.useRelease(TestImages.NEXT_RELEASE, "inventory-service", "health-service", "node-daemon");
            installation.useRelease(TestImages.NEXT_RELEASE, "allocation-service");
            assertThat(installation.versions()).containsExactly(TestImages.NEXT_RELEASE);
            await().atMost(EFFECT)
                    .untilAsserted(
                            () -> assertThat(installation.appliedFields()).containsKey("taint gpufleet.io/unhealthy"));
            await().atMost(EFFECT)
                    .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(7));
            // and recovers on the way back
            faults.clear(failing);
            installation.useRelease(TestImages.RELEASE, "inventory-service", "health-service", "node-daemon");
            installation.useRelease(TestImages.RELEASE, "allocation-service");

            // Then
            assertThat(installation.versions())
                    .containsExactly(BuildInfo.current().version());
            await().atMost(EFFECT)
                    .untilAsserted(() ->
                            assertThat(installation.appliedFields()).doesNotContainKey("taint gpufleet.io/unhealthy"));
            await().atMost(EFFECT)
                    .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(8));
            assertThat(pods.refused()).isEmpty();
            assertThat(pods.admitted()).isPositive();
        }
        assertThat(installation.restarts(SERVICES)).isZero();
        assertThat(cluster.podState("default", "gpufleet-it-training")).isEqualTo(before);
        cluster.deletePod("default", "gpufleet-it-training");
    }

    @Test
    @Order(8)
    void servicesStartBesideUnhealthyGpuAndLiftTheTaint() throws Exception {
        faults.inject(3, 79);
        await().atMost(EFFECT)
                .untilAsserted(
                        () -> assertThat(installation.appliedFields()).containsKey("taint gpufleet.io/unhealthy"));
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
                .untilAsserted(() ->
                        assertThat(installation.appliedFields()).doesNotContainKey("taint gpufleet.io/unhealthy"));
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(8));
    }

    @Test
    @Order(9)
    void migDevicesAreOfferedAsTheComponentSays() throws Exception {
        installation.useDevices("simulated:8xH100:mig=7x1g.10gb", "components/mig/mixed");
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.allocatable("nvidia.com/mig-1g.10gb"))
                        .isEqualTo(56));
        assertThat(cluster.allocatableGpus()).isZero();
        Samples.run(cluster, "mig.yaml");
        await().atMost(EFFECT)
                .untilAsserted(() ->
                        assertThat(cluster.label("nvidia.com/mig.strategy")).isEqualTo("mixed"));

        installation.useDevices("simulated:8xH100:mig=7x1g.10gb", "components/mig/single");
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(56));
        cluster.runPod("default", "gpufleet-it-mig", 14, "echo devices=$NVIDIA_VISIBLE_DEVICES");
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.podState("default", "gpufleet-it-mig"))
                        .startsWith("Succeeded"));
        cluster.deletePod("default", "gpufleet-it-mig");
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.label("nvidia.com/gpu.product"))
                        .isEqualTo("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"));

        installation.useDevices("simulated:8xH100", "");
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(8));
    }

    @Test
    @Order(10)
    void purgeRemovesEveryAppliedFieldAndIsRepeatable() throws Exception {
        faults.inject(3, 79);
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(installation.appliedFields())
                        .containsKey("taint gpufleet.io/unhealthy")
                        .containsKey("label nvidia.com/gpu.count")
                        .containsKey("condition GpuUnhealthy"));

        Kubectl.run("apply", "-k", Repository.module("k8s/purge").toString());
        Kubectl.run("-n", "gpufleet-purge", "wait", "--for=condition=complete", "job/purge", "--timeout=3m");

        assertThat(installation.appliedFields()).isEmpty();
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
        assertThat(installation.appliedFields()).isEmpty();
        Kubectl.run("delete", "-k", Repository.module("k8s/purge").toString(), "--wait=false");
        faults.clear(3);
    }

    @Test
    @Order(11)
    void deleteLeavesNoWebhookAndKeepsTheQuotas() {
        installation.delete();

        assertThat(Kubectl.run("get", "validatingwebhookconfigurations,namespaces,clusterroles", "-o", "name"))
                .doesNotContain("gpufleet-quota", "gpufleet-system", "gpufleet-node", "gpufleet-allocation-service");
        assertThat(Kubectl.run("get", "gpuquotas", "-o", "name")).contains("gpufleet-it-installed");
        assertThat(installation.appliedFields()).isEmpty();
        // A GPU pod of the namespace that was enforced is admitted again
        var pods = cluster.client().pods().inNamespace(TEAM);
        pods.resource(RealCluster.pod(TEAM, "later", 3, "true")).dryRun().create();
    }

    /** A pod that holds four GPUs until it is deleted; its state once it runs. */
    private static String startTraining() {
        cluster.runPod("default", "gpufleet-it-training", 4, "echo $NVIDIA_VISIBLE_DEVICES; sleep 3600");
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.podState("default", "gpufleet-it-training"))
                        .startsWith("Running"));
        return cluster.podState("default", "gpufleet-it-training");
    }

    /** Index of a simulated GPU that the training pod does not hold; the daemon names them by node and index. */
    private static int gpuWithoutHolder() {
        String node = cluster.node().getMetadata().getName();
        String held = cluster.podLog("default", "gpufleet-it-training");
        assertThat(held).contains("GPU-");
        return IntStream.range(0, 8)
                .filter(index -> !held.contains(UUID.nameUUIDFromBytes((node + "/" + index).getBytes(UTF_8))
                        .toString()))
                .findFirst()
                .orElseThrow();
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
}
