package io.gpufleet.cli.lifecycle;

import static io.gpufleet.cli.install.Installation.NODES;
import static io.gpufleet.cli.install.Installation.SERVICES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.cli.fleet.DirectoryTrees;
import io.gpufleet.cli.install.DoctorReport;
import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.cli.install.NamedObjects;
import io.gpufleet.cli.install.PrintedEvents;
import io.gpufleet.cli.install.TestImages;
import io.gpufleet.cli.install.Training;
import io.gpufleet.cli.install.ViewerCommands;
import io.gpufleet.cli.migration.Migration;
import io.gpufleet.cli.release.KafkaOutage;
import io.gpufleet.cli.release.ReleaseChange;
import io.gpufleet.cli.release.UnresolvableKafka;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
    private static final List<String> SERVICE_NAMES =
            List.of("inventory-service", "health-service", "allocation-service");
    private static final String TEAM = "gpufleet-it-installed";
    private static final String OTHER_POLICY =
            "GPUFLEET_POLICY=/etc/gpufleet/policy.yaml, GPUFLEET_SHADOW_POLICY=aggressive";
    /** Below the hostPath that the daemon mounts. */
    private static final Path FAULTS = Path.of("/run/gpufleet/it-faults");

    @TempDir
    static Path directory;

    private static RealCluster cluster;
    private static BrokerProcess broker;
    private static Installation installation;
    private static InstalledNode node;
    private static HostFiles hostFiles;
    private static NamedObjects objects;
    private static WebhookHistory webhooks;

    @BeforeAll
    static void install() throws Exception {
        cluster = RealCluster.open();
        hostFiles = HostFiles.now();
        objects = NamedObjects.now(cluster.client());
        TestImages.loadBothReleases(directory);
        TestImages.loadInstaller(directory);
        broker = BrokerProcess.startOn(directory.resolve("kafka"), Installation.nodeAddress(cluster));
        // A run that was ended may have left some.
        DirectoryTrees.delete(FAULTS);
        installation = Installation.write(cluster, directory, broker.remoteBootstrap(), FAULTS);
        node = new InstalledNode(cluster, new SimulatedFaults(FAULTS));
        webhooks = new WebhookHistory(cluster.client());
        installation.apply();
    }

    @AfterAll
    static void remove() {
        if (installation != null) {
            installation.delete();
            installation.deleteState();
            Kubectl.run("delete", "namespace", TEAM, "--ignore-not-found", "--wait=false");
            Kubectl.run("delete", "crd", "gpuquotas.gpufleet.io", "--ignore-not-found");
        }
        if (webhooks != null) {
            webhooks.close();
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
    void firstStageSetsFieldsOfItsOwnPrefixOnlyAndTheSecondNoTaint() throws Exception {
        new Stages(installation, node).pass();
    }

    @Test
    @Order(3)
    void gpuPodRunsAndNodeIsLabelled() {
        cluster.runPod(
                "default",
                "gpufleet-it-installed",
                1,
                "echo visible=$NVIDIA_VISIBLE_DEVICES; ls /dev/nvidia[0-9]*; cat /usr/bin/nvidia-smi");

        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(cluster.podState("default", "gpufleet-it-installed"))
                        .startsWith("Succeeded"));
        assertThat(cluster.podLog("default", "gpufleet-it-installed"))
                .matches("visible=void\n/dev/nvidia[0-7]\nthis is nvidia-smi\\s*");
        cluster.deletePod("default", "gpufleet-it-installed");
        node.awaitLabel("nvidia.com/gpu.count", "8");

        // When feature discovery leaves the node, it removes the label, and gpufleet writes it
        Kubectl.run("label", "node", cluster.nodeName(), "nvidia.com/gpu.count-");
        node.awaitLabel("nvidia.com/gpu.count", "8");
    }

    @Test
    @Order(4)
    void everySampleRuns() {
        Samples.run(cluster, "pods.yaml");
        Samples.keepApart(cluster, "pods.yaml", "one-per-node");
    }

    @Test
    @Order(5)
    void webhookIsEnforcedOnceItAnswersAndWarnsOfPodOverQuotaAndThenRefusesIt() throws IOException {
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
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(installation.policies())
                        .containsEntry("enforced.quota.gpufleet.io", "Fail")
                        .containsEntry("open.quota.gpufleet.io", "Ignore")
                        .containsEntry("claims-enforced.quota.gpufleet.io", "Fail")
                        .containsEntry("claims-open.quota.gpufleet.io", "Ignore"));
        assertThat(webhooks.versions().getFirst().values()).hasSize(5).containsOnly("Ignore");

        QuotaStages.pass(directory, TEAM);
        // Of which Kubernetes counts nothing
        Kubectl.run("-n", TEAM, "create", "quota", "limits", "--hard=limits.nvidia.com/gpu=1");

        RefusedOwners.assertEventsSay(
                cluster,
                TEAM,
                "admission webhook \"enforced.quota.gpufleet.io\" denied the request",
                "gpufleet-it-installed");
        cluster.client().resource(RealCluster.pod(TEAM, "fits", 2, "true")).create();
    }

    @Test
    @Order(6)
    void servicesSpeakTlsByTheCaThatClientsCanRead() throws Exception {
        ServiceHttps.verify(cluster.client(), directory.resolve("ca.crt"));
    }

    @Test
    @Order(7)
    void viewerOfThePageAsksByItsCommands() throws Exception {
        // Given a pod whose GPU fails
        Training.start(cluster);
        int failing = Training.gpuThatItHolds(cluster);
        node.fail(failing);

        ViewerCommands.run(directory, cluster.nodeName(), Training.NAME);
        PrintedEvents.assertNodeIsAnnounced(broker.bootstrap(), cluster.nodeName());

        node.recover(failing);
        Training.end(cluster);
        node.awaitNoTaint();
        node.awaitGpus(8);
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
    void doctorFindsNothingThatFailsAndItsBundleHasNoSecret() throws Exception {
        Path bundle = directory.resolve("bundle.zip");

        DoctorReport.assertStrategyFits("--bundle", bundle.toString());

        DoctorReport.assertPointsOut("ResourceQuota " + TEAM + "/limits", "limits.nvidia.com/gpu limits nothing");
        Bundle.assertHelpfulAndWithoutSecrets(bundle, cluster.client());
        // The doctor and the probe of a node run beside its daemon, within the memory of the container
        for (String report : List.of("doctor", "probe")) {
            assertThat(installation.daemon().report(report)).contains("H100");
        }
        assertThat(installation.restarts(NODES)).isZero();
    }

    @Test
    @Order(10)
    void nextReleaseAndBackMissNoFaultDisturbNoPodAndRefuseNone() throws Exception {
        cluster.deletePod(TEAM, "fits");
        ReleaseChange.thereAndBack(cluster, installation, node, TEAM);
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
    void kafkaThatIsNotResolvedIsAReasonAMetricAndOneLineOfEachClient() throws Exception {
        UnresolvableKafka.isNamedUntilItIsRight(installation, cluster);
    }

    @Test
    @Order(13)
    void topicThatSomebodyChangedIsReportedByTheNextApply() throws Exception {
        ChangedTopic.isReported(broker.bootstrap(), installation, directory);
    }

    @Test
    @Order(14)
    void stateOfTheDriverInstallerIsALabelUntilItIsDeleted() throws Exception {
        InstallerOnTheNode.reportsItsState(cluster, installation, node);
    }

    @Test
    @Order(15)
    void deletedNodeComesBackWithLabelsTaintAndPods() throws Exception {
        DeletedNode.comesBack(cluster, installation, node);
    }

    @Test
    @Order(16)
    void replacedMachineHasNothingOfTheFaultsOfTheFormerOne() throws Exception {
        ReplacedNode.isAnotherMachine(cluster, installation, node);
    }

    @Test
    @Order(17)
    void migDevicesAreOfferedAsTheComponentSays() throws Exception {
        MigDevices.offer(cluster, installation, node);
    }

    @Test
    @Order(18)
    void taintOfTheComponentKeepsPodsAwayThatDoNotTolerateIt() throws Exception {
        GpuTaint.keepsOtherPodsAway(cluster, installation, node);
    }

    @Test
    @Order(19)
    void servicesStartBesideUnhealthyGpuAndLiftTheTaint() throws Exception {
        node.failAndAwaitFields();
        node.awaitGpus(7);

        // When the policy becomes one of a file: the ConfigMap of the settings has another name, so the pods are
        // replaced, on the node with both taints
        Kubectl.run(
                "-n",
                SERVICES,
                "create",
                "configmap",
                "health-service-files",
                "--from-literal=policy.yaml=policy: site\nextends: nvidia\n");
        installation.addSetting(OTHER_POLICY);
        installation.apply();
        Kubectl.run("-n", SERVICES, "rollout", "status", "statefulset/health-service", "--timeout=150s");
        node.recover(3);

        node.awaitNoTaint();
        node.awaitGpus(8);
    }

    @Test
    @Order(20)
    void purgeRemovesEveryAppliedFieldAndIsRepeatable() throws Exception {
        Removal.purge(installation, node, TEAM);
    }

    @Test
    @Order(21)
    void nodeMovesFromNvidiasProgramsAndBackByTheCommandsOfThePage() throws Exception {
        Migration.thereAndBack(cluster, installation, node);
    }

    @Test
    @Order(22)
    void deleteLeavesNoWebhookAndTheQuotas() throws Exception {
        // Given that the services, which the purge stopped, are there again
        installation.apply();
        SERVICE_NAMES.forEach(installation::awaitDrainable);
        Removal.deleteBeforeThePurge(cluster, installation, node, objects, TEAM);
        // Its file was in a ConfigMap of the namespace
        installation.removeSetting(OTHER_POLICY);
    }

    @Test
    @Order(23)
    void newInstallationWithAnEmptyKafkaTakesOverTheTaintedNode() throws Exception {
        NewKafka.takesOverTaintedNode(cluster, installation, node, SERVICE_NAMES, directory.resolve("new-kafka"));
    }

    @Test
    @Order(24)
    void purgeAfterTheDeleteRemovesTheRest() throws IOException {
        Removal.purgeAfterTheDelete(cluster, installation, objects, TEAM);
        hostFiles.assertNamedBy(Repository.module("k8s/README.md"));
    }
}
