package io.gpufleet.cli.dev;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.fleet.DirectoryTrees;
import io.gpufleet.cli.install.AppliedFields;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.cli.install.NamedObjects;
import io.gpufleet.cli.install.PageCommands;
import io.gpufleet.cli.install.TestImages;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * overlays/dev by the commands of its page, with its Kafka, whose image compose/docker/kafka-stand-in.sh stands in for, and the
 * daemon's own directories of the host.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DevOverlayClusterIT {
    static final String OVERLAY = "k8s/overlays/dev";

    private static final String MINE = "k8s/overlays/mine";
    private static final String PAGE = OVERLAY + "/README.md";
    private static final Pattern COMMAND = Pattern.compile("(?m)`((?:kubectl|curl) [^`]*)`|^    (kubectl .*)$");
    private static final Pattern PLACEHOLDER = Pattern.compile("\\b(?:NODE|POD|HOST|NAME)\\b");
    private static final Path FAULTS = Path.of("/run/gpufleet/faults");
    private static final Map<String, String> ANSWERS = Map.of(
            "get node NODE", "managedFields:",
            "doctor", "8 x H100",
            "auth can-i", "yes",
            "curl", "{\"ok\":true,\"reasons\":[]}",
            "logs ds/node-daemon", "daemon started",
            "get pods", "Running",
            "get gpuquota", "limits:");
    /** What the pages name of the host, of the daemon and of the MPS pods. */
    private static final List<Path> HOST = List.of(Path.of("/var/lib/gpufleet"), FAULTS, Path.of("/run/nvidia/mps"));

    @TempDir
    static Path directory;

    private static RealCluster cluster;
    private static NamedObjects objects;
    private static CheckoutCopy checkout;
    private static InstalledNode node;

    @BeforeAll
    static void install() throws Exception {
        cluster = RealCluster.open();
        objects = NamedObjects.now(cluster.client());
        checkout = CheckoutCopy.make(directory);
        node = new InstalledNode(cluster, new SimulatedFaults(FAULTS));
        // A run that was ended may have left some.
        deleteHostFiles();
        TestImages.load(directory);
        TestImages.loadKafka(directory);
        MpsDevices.loadImage(directory);
        checkout.runBlock(PAGE, "./gpufleet images build");
    }

    @AfterAll
    static void remove() throws Exception {
        Kubectl.tryRun("delete", "-k", checkout.directory().resolve(OVERLAY).toString(), "--ignore-not-found");
        Kubectl.tryRun("delete", "crd", "gpuquotas.gpufleet.io", "--ignore-not-found");
        deleteHostFiles();
        cluster.close();
    }

    private static void deleteHostFiles() throws Exception {
        new ProcessBuilder("bash", "-c", "umount /run/nvidia/mps/*/*/shm")
                .redirectErrorStream(true)
                .start()
                .waitFor();
        HOST.forEach(DirectoryTrees::delete);
    }

    @Test
    @Order(1)
    void everythingOfThePageIsReady() {
        awaitReady();
        node.awaitGpus(8);
        // The Job of the topics tries again by design while Kafka starts
        assertThat(Kubectl.run(
                        "-n",
                        "gpufleet-system",
                        "get",
                        "pods",
                        "-l",
                        "!batch.kubernetes.io/job-name",
                        "-o",
                        "jsonpath={..restartCount}"))
                .matches("[0 ]+");
    }

    private static void awaitReady() {
        for (String service : List.of("inventory-service", "health-service", "allocation-service")) {
            Kubectl.run("-n", "gpufleet-system", "rollout", "status", "statefulset/" + service, "--timeout=120s");
        }
    }

    @Test
    @Order(2)
    void faultOfThePageTaintsTheNodeUntilItsFileIsRemoved() throws Exception {
        checkout.runBlock(PAGE, "kubectl -n gpufleet-node exec ds/node-daemon -- sh");
        node.awaitTaint();
        assertThat(checkout.runBlock(PAGE, "kubectl get nodes")).contains("gpufleet.io/unhealthy");
        node.awaitGpus(7);

        checkout.runBlock(PAGE, "kubectl -n gpufleet-node exec ds/node-daemon -- rm");
        node.awaitNoTaint();
        node.awaitGpus(8);
    }

    @Test
    @Order(3)
    void commandsOfTroubleshootingAndOfTheRunbookAnswer() throws Exception {
        checkout.run("kubectl apply -f k8s/samples/gpuquota.yaml");
        var placeholders = Map.of(
                "NODE", cluster.nodeName(),
                "POD",
                        checkout.run("kubectl -n gpufleet-node get pods -l app.kubernetes.io/name=node-daemon -o name")
                                .strip(),
                "HOST", ServiceCurls.address(cluster, "health-service"),
                "NAME", "team-vision");
        for (String page : List.of("k8s/docs/troubleshooting.md", "k8s/components/monitoring/README.md")) {
            List<String> commands = COMMAND.matcher(PageCommands.text(page))
                    .results()
                    .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
                    .distinct()
                    // A deleted Secret is issued anew within a minute (WebhookReplicasIT)
                    .filter(command -> !command.contains(" delete "))
                    .toList();
            assertThat(commands).as(page).hasSizeGreaterThan(4);
            for (String command : commands) {
                String line = PLACEHOLDER.matcher(command).replaceAll(name -> placeholders.get(name.group()));
                assertThat(checkout.run(line)).as(line).contains(answer(command));
            }
        }
    }

    /** What is looked for in the answer by the words around the command. */
    private static String answer(String command) {
        return ANSWERS.entrySet().stream()
                .filter(each -> command.contains(each.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse("gpufleet");
    }

    @Test
    @Order(4)
    void servicesAnswerTheCurlLinesOfTheirPages() throws Exception {
        var curls = new ServiceCurls(checkout, cluster);
        Kubectl.run("create", "namespace", "team-a");
        node.fail(2);
        node.awaitTaint();
        try {
            // Which the inventory hears of beside the health-service
            await().atMost(InstalledNode.EFFECT).untilAsserted(() -> {
                Kubectl.run("delete", "clusterrolebinding", "viewers", "--ignore-not-found");
                assertThat(curls.run("inventory-service")).contains("\"GPU-").endsWith(" 200");
            });
            node.recover(2);
            node.awaitNoTaint();
            assertThat(curls.run("allocation-service")).startsWith("{").endsWith(" 200");

            assertThat(curls.run("health-service")).endsWith(" 202");
            node.awaitTaint();
            String release = curls.run(
                    "health-service",
                    lines -> lines.replaceFirst("^ *kubectl create .*\n", "").replace("/quarantine", "/release"));
            assertThat(release).endsWith(" 202");
            node.awaitNoTaint();
        } finally {
            Kubectl.run("delete", "namespace", "team-a", "--wait=false");
            Kubectl.run("delete", "clusterrolebinding", "viewers", "operators", "--ignore-not-found");
        }
    }

    @Test
    @Order(5)
    void topicsAreMadeAnewAfterThePodOfKafkaWasReplaced() throws Exception {
        Kubectl.run("-n", "gpufleet-system", "delete", "pod", "-l", "app.kubernetes.io/name=kafka-for-development");

        checkout.runBlock("k8s/components/kafka-for-development/README.md", "kubectl apply -k k8s/overlays/dev");

        awaitReady();
    }

    @Test
    @Order(6)
    void copyOfTheExampleIsAcceptedWithTheEditsOfThePage() throws Exception {
        String page = "k8s/README.md";
        assertThat(PageCommands.block(page, "./gpufleet images build"))
                .contains("# set cluster, Kafka, registry, strategy");
        checkout.run(line(page, "cp -r k8s/overlays/example "));
        checkout.edit(MINE + "/fleet.env", "GPUFLEET_CLUSTER=example", "GPUFLEET_CLUSTER=mine");
        checkout.edit(MINE + "/fleet.env", "kafka.example.internal:9092", "kafka-for-development.gpufleet-system:9092");
        checkout.edit(MINE + "/kustomization.yaml", "registry.example/", "registry.test/");
        checkout.edit(MINE + "/kustomization.yaml", "STRATEGY=cdi-cri", "STRATEGY=host-mounts");

        // As before an upgrade: the template of a Job that is there cannot change
        checkout.run(line("k8s/docs/upgrade.md", "kubectl -n gpufleet-system delete job topics"));
        String output = checkout.run(line(page, "kubectl apply -k k8s/overlays/mine") + " --dry-run=server -o yaml");

        assertThat(output)
                .contains(
                        "GPUFLEET_CLUSTER: mine",
                        "image: registry.test/gpufleet/node-daemon:0.1.0",
                        "STRATEGY: host-mounts")
                .doesNotContain("registry.example", "kafka.example.internal", "GPUFLEET_CLUSTER: example");
    }

    private static String line(String page, String begin) {
        return PageCommands.text(page)
                .lines()
                .filter(each -> each.startsWith(begin))
                .map(each -> each.replaceFirst("\\s+#.*", ""))
                .findFirst()
                .orElseThrow();
    }

    @Test
    @Order(7)
    void gpusAreSharedByThePodsOfTheComponentMps() throws Exception {
        MpsDevices.share(checkout, cluster, node);
    }

    @Test
    @Order(8)
    void purgeByTheCopyOfTheExampleAndDeleteLeaveNothing() throws Exception {
        String job = "kubectl apply -k k8s/overlays/mine-purge";
        assertThat(PageCommands.block("k8s/README.md", job)).startsWith("cp -r k8s/overlays/example-purge ");
        // That its first line asks for
        checkout.edit("k8s/overlays/example-purge/kustomization.yaml", "registry.example", "docker.io");
        checkout.runBlock("k8s/README.md", job);
        assertThat(AppliedFields.of(cluster.node())).isEmpty();

        checkout.runBlock(PAGE, "kubectl delete -k");

        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(
                        () -> assertThat(NamedObjects.now(cluster.client()).since(objects))
                                .isEmpty());
    }
}
