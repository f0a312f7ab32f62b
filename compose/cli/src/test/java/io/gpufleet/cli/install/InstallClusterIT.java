package io.gpufleet.cli.install;

import static io.gpufleet.cli.install.Installation.NODES;
import static io.gpufleet.cli.install.Installation.SERVICES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.cli.GpufleetCommand;
import io.gpufleet.cli.fleet.DirectoryTrees;
import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
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
    private static HostFiles hostFiles;

    @BeforeAll
    static void install() throws Exception {
        cluster = RealCluster.open();
        hostFiles = HostFiles.now();
        TestImages.load(directory);
        broker = BrokerProcess.startOn(directory.resolve("kafka"), Installation.nodeAddress(cluster));
        // A run that was ended may have left some.
        DirectoryTrees.delete(FAULTS);
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
        DirectoryTrees.delete(FAULTS);
        cluster.close();
    }

    @Test
    @Order(1)
    void everythingBecomesReadyWithoutRestarts() {
        await().atMost(TIMEOUT)
                .untilAsserted(() ->
                        assertThat(ViewerCommands.logOfTheTopics(directory)).contains("gpu.health-state"));
        SERVICE_NAMES.forEach(installation::awaitReady);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(8));
        assertThat(installation.restarts(SERVICES)).isZero();
        assertThat(installation.restarts(NODES)).isZero();
    }

    @Test
    @Order(2)
    void firstStageSetsAConditionAndFieldsOfItsOwnPrefixOnly() throws Exception {
        // When a GPU fails
        faults.inject(3, 79);
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(installation.appliedFields()).containsKey("condition GpuUnhealthy"));
        // And the labels are known, as the active replica says
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(installation.metrics("inventory-service-0")
                                + installation.metrics("inventory-service-1"))
                        .contains("gpufleet_label_differences 1"));
        // Then
        assertThat(installation.appliedFields().keySet())
                .filteredOn(field -> !field.equals("condition GpuUnhealthy"))
                .allMatch(field -> field.matches("(label|annotation) gpufleet\\.io/.*"));
        faults.clear(3);
        Set<String> before = installation.pods("inventory-service");

        // When changed settings replace the pods
        installation.writeLabelsAndEnforce();

        // Then
        assertThat(installation.pods("inventory-service")).hasSize(2).doesNotContainAnyElementsOf(before);
        await().atMost(EFFECT)
                .untilAsserted(
                        () -> assertThat(cluster.label("nvidia.com/gpu.count")).isEqualTo("8"));
    }

    @Test
    @Order(3)
    void gpuPodRunsAndNodeIsLabelled() {
        cluster.runPod(
                "default",
                "gpufleet-it-installed",
                1,
                "echo visible=$NVIDIA_VISIBLE_DEVICES; ls /dev/nvidia[0-9]*; cat /usr/bin/nvidia-smi");

        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.podState("default", "gpufleet-it-installed"))
                        .startsWith("Succeeded"));
        assertThat(cluster.podLog("default", "gpufleet-it-installed"))
                .matches("visible=void\n/dev/nvidia[0-7]\nthis is nvidia-smi\\s*");
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
    @Order(4)
    void everySampleRuns() {
        Samples.run(cluster, "pods.yaml");
    }

    @Test
    @Order(5)
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
                .untilAsserted(() -> assertThat(installation.policies())
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
        RefusedOwners.assertEventsSay(
                cluster,
                TEAM,
                "admission webhook \"enforced.quota.gpufleet.io\" denied the request",
                "gpufleet-it-installed");
        pods.resource(RealCluster.pod(TEAM, "fits", 2, "true")).create();
    }

    @Test
    @Order(6)
    void servicesSpeakTlsByTheCaThatClientsCanRead() throws Exception {
        ServiceHttps.verify(cluster.client(), directory.resolve("ca.crt"));
    }

    @Test
    @Order(7)
    void viewerOfThePageAsksByItsCommands() throws Exception {
        ViewerCommands.run(directory, cluster.nodeName());
    }

    @Test
    @Order(9)
    void drainTakesOneReplicaAtTheTime() {
        var once = new ConfigBuilder(cluster.client().getConfiguration()).withRequestRetryBackoffLimit(0);
        try (var client = new KubernetesClientBuilder().withConfig(once.build()).build()) {
            var pods = client.pods().inNamespace(SERVICES);
            SERVICE_NAMES.forEach(installation::awaitDrainable);

            assertThat(pods.withName("inventory-service-0").evict()).isTrue();

            // Then the other one stays: the API server answers 429, after which a client would try again and succeed
            // later
            assertThat(pods.withName("inventory-service-1").evict()).isFalse();
        }
    }

    @Test
    @Order(8)
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

        Bundle.assertHelpfulAndWithoutSecrets(bundle, cluster.client());
        // The doctor of a node runs beside its daemon, within the memory of the container
        Kubectl.run("-n", NODES, "exec", "daemonset/node-daemon", "--", "/opt/gpufleet/bin/node-daemon", "doctor");
        assertThat(installation.restarts(NODES)).isZero();
    }

    @Test
    @Order(10)
    void nextReleaseAndBackMissNoFaultDisturbNoPodAndRefuseNone() throws Exception {
        String before = Training.start(cluster);
        cluster.deletePod(TEAM, "fits");

        try (var pods = new AdmittedPods(cluster.client().getConfiguration(), TEAM)) {
            // When a GPU fails while the services are replaced
            int failing = Training.gpuThatItLeaves(cluster);
            faults.inject(failing, 79);
            installation.useRelease(TestImages.NEXT_RELEASE);
            assertThat(installation.versions()).containsExactly(TestImages.NEXT_RELEASE);
            assertThat(installation.missedEvents()).isEmpty();
            await().atMost(EFFECT)
                    .untilAsserted(
                            () -> assertThat(installation.appliedFields()).containsKey("taint gpufleet.io/unhealthy"));
            awaitGpus(7);
            // and recovers on the way back
            faults.clear(failing);
            installation.useRelease(TestImages.RELEASE);

            // Then
            assertThat(installation.versions())
                    .containsExactly(BuildInfo.current().version());
            assertThat(installation.missedEvents()).isEmpty();
            await().atMost(EFFECT)
                    .untilAsserted(() ->
                            assertThat(installation.appliedFields()).doesNotContainKey("taint gpufleet.io/unhealthy"));
            awaitGpus(8);
            assertThat(pods.refused()).isEmpty();
            assertThat(pods.admitted()).isPositive();
        }
        assertThat(installation.restarts(SERVICES)).isZero();
        assertThat(Training.state(cluster)).isEqualTo(before);
        Training.end(cluster);
    }

    @Test
    @Order(11)
    void podsAreAdmittedWhileKafkaIsAway() throws Exception {
        cluster.deletePod(TEAM, "fits");
        KafkaOutage.admitsPods(broker, installation, cluster, TEAM);
        SERVICE_NAMES.forEach(installation::awaitReady);
    }

    @Test
    @Order(12)
    void servicesStartBesideUnhealthyGpuAndLiftTheTaint() throws Exception {
        failOneGpu();
        awaitGpus(7);

        // When the policy becomes one of a file: the ConfigMap of the settings has another name, so the pods are
        // replaced, on the tainted node
        Kubectl.run(
                "-n",
                SERVICES,
                "create",
                "configmap",
                "health-service-files",
                "--from-literal=policy.yaml=policy: site\nextends: nvidia\n");
        installation.addSetting("GPUFLEET_POLICY=/etc/gpufleet/policy.yaml, GPUFLEET_SHADOW_POLICY=aggressive");
        installation.apply();
        Kubectl.run("-n", SERVICES, "rollout", "status", "statefulset/health-service", "--timeout=150s");
        faults.clear(3);

        await().atMost(EFFECT)
                .untilAsserted(() ->
                        assertThat(installation.appliedFields()).doesNotContainKey("taint gpufleet.io/unhealthy"));
        awaitGpus(8);
    }

    @Test
    @Order(13)
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
        awaitGpus(56);
        cluster.runPod("default", "gpufleet-it-mig", 14, "echo devices=$NVIDIA_VISIBLE_DEVICES");
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.podState("default", "gpufleet-it-mig"))
                        .startsWith("Succeeded"));
        cluster.deletePod("default", "gpufleet-it-mig");
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.label("nvidia.com/gpu.product"))
                        .isEqualTo("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"));

        installation.useDevices("simulated:8xH100", "");
        awaitGpus(8);
    }

    @Test
    @Order(14)
    void purgeRemovesEveryAppliedFieldAndIsRepeatable() throws Exception {
        failOneGpu();

        installation.purge();

        assertThat(installation.appliedFields()).isEmpty();
        assertThat(installation.policies()).isEmpty();
        assertThat(installation.labels(TEAM)).doesNotContainKey("gpufleet.io/quota");
        // Then it can be repeated, here by the command line
        assertThat(Installation.purgeByCommandLine()).isZero();
        assertThat(installation.appliedFields()).isEmpty();
        faults.clear(3);
    }

    @Test
    @Order(15)
    void deleteLeavesNoWebhookAndTheQuotasAndAPurgeAfterwardsTheRest() throws Exception {
        // Given that the services, which the purge stopped, are there again
        installation.apply();
        SERVICE_NAMES.forEach(installation::awaitDrainable);
        failOneGpu();
        await().atMost(EFFECT)
                .untilAsserted(
                        () -> assertThat(installation.policies()).containsEntry("enforced.quota.gpufleet.io", "Fail"));
        assertThat(installation.labels(TEAM)).containsEntry("gpufleet.io/quota", "enforce");

        installation.delete();

        assertThat(Kubectl.run("get", "validatingwebhookconfigurations,namespaces,clusterroles", "-o", "name"))
                .doesNotContain("gpufleet-quota", "gpufleet-system", "gpufleet-node", "gpufleet-allocation-service");
        assertThat(Kubectl.run("get", "gpuquotas", "-o", "name")).contains("gpufleet-it-installed");
        assertThat(installation.appliedFields())
                .containsKeys("taint gpufleet.io/unhealthy", "label nvidia.com/gpu.count", "condition GpuUnhealthy");
        // A GPU pod of the namespace that is labelled still is admitted again
        assertThat(installation.labels(TEAM)).containsEntry("gpufleet.io/quota", "enforce");
        var pods = cluster.client().pods().inNamespace(TEAM);
        pods.resource(RealCluster.pod(TEAM, "later", 3, "true")).dryRun().create();

        // When the purge was forgotten, it runs afterwards
        installation.purge();

        assertThat(installation.appliedFields()).isEmpty();
        assertThat(installation.labels(TEAM)).doesNotContainKey("gpufleet.io/quota");
        hostFiles.assertNamedBy(Repository.module("k8s/README.md"));
    }

    private static void awaitGpus(int count) {
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(count));
    }

    /** Until there is something to purge: taint, labels and condition. */
    private static void failOneGpu() throws IOException {
        faults.inject(3, 79);
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(installation.appliedFields())
                        .containsKey("taint gpufleet.io/unhealthy")
                        .containsKey("label nvidia.com/gpu.count")
                        .containsKey("condition GpuUnhealthy"));
    }
}
