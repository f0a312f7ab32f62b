package io.gpufleet.cli.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.gpufleet.cli.install.DoctorReport;
import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.RealCluster;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The migration of k8s/docs/migration.md by its commands, there and back, beside stand-ins for NVIDIA's programs: a plugin that
 * registers four of the node's eight GPUs with the kubelet, so that the number says who serves, and a feature discovery. A
 * pod to which the stand-in allocated two GPUs runs throughout.
 */
public final class Migration {
    private static final Logger LOG = LoggerFactory.getLogger(Migration.class);
    private static final String GPU = "nvidia.com/gpu";
    private static final String NAMESPACE = "default";
    private static final String HOLDER = "gpufleet-it-moved";
    private static final String PROBE = "gpufleet-it-probe";
    private static final Pattern UUID = Pattern.compile("GPU-[0-9a-f-]{36}");
    private static final int NVIDIAS = 4;
    private static final int OURS = 8;
    private static final String GPUFLEET = "gpufleet-inventory";
    private static final String SUPERSEDED = "superseded by another device plugin";
    private static final String MASTER = "nfd-master";

    private final RealCluster cluster;
    private final Installation installation;
    private final InstalledNode node;
    private final MigrationPage page;
    private String running = "";

    private Migration(RealCluster cluster, Installation installation, InstalledNode node) {
        this.cluster = cluster;
        this.installation = installation;
        this.node = node;
        this.page = new MigrationPage(cluster.nodeName());
    }

    /** From NVIDIA's programs alone to gpufleet's alone and back; after a purge, and with one at the end. */
    public static void thereAndBack(RealCluster cluster, Installation installation, InstalledNode node)
            throws Exception {
        new Migration(cluster, installation, node).thereAndBack();
    }

    private void thereAndBack() throws Exception {
        List<String> uuids = uuids();
        installation.daemon().remove();
        node.awaitGpus(0);
        try (var nvidia = new NvidiaPrograms(cluster, uuids)) {
            startWith(nvidia);
            installBeside();
            move();
            back();
            moveForGood();
            backForGood(nvidia);
        } finally {
            cluster.deletePod(NAMESPACE, HOLDER);
            cluster.deletePod(NAMESPACE, PROBE);
            installation.setModes("write", "enforce");
        }
    }

    /** Of the GPUs that the stand-in has, as the daemon reports them. */
    private List<String> uuids() {
        return UUID.matcher(installation.daemon().report("probe"))
                .results()
                .map(MatchResult::group)
                .distinct()
                .limit(NVIDIAS)
                .toList();
    }

    private void startWith(NvidiaPrograms nvidia) {
        LOG.info("NVIDIA's programs alone");
        nvidia.apply();
        node.awaitGpus(NVIDIAS);
        awaitOwners(MASTER);
        run(HOLDER, 2, "sleep 3600");
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(
                        () -> assertThat(cluster.podState(NAMESPACE, HOLDER)).startsWith("Running"));
        running = cluster.podState(NAMESPACE, HOLDER);
    }

    /** Steps 1 to 3: NVIDIA's plugin goes on serving, and the labels are shared once they are written. */
    private void installBeside() throws Exception {
        LOG.info("gpufleet beside them");
        installation.setModes("observe", "observe");
        installation.apply();
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() ->
                        assertThat(logged("deferred to another device plugin")).isEqualTo(1));
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(installation.metrics().ofService("inventory-service"))
                        .contains("gpufleet_label_differences 1"));
        assertThat(FeatureDiscovery.owners(cluster)).containsExactly(MASTER);
        assertServedBy(NVIDIAS);

        page.runBlock("kubectl -n kube-system patch ds nvidia-device-plugin-daemonset");
        page.runBlock("for term in");
        installation.writeLabels();
        awaitOwners(GPUFLEET, MASTER);
        assertServedBy(NVIDIAS);
    }

    /** Steps 4 and 5. */
    private void move() throws Exception {
        LOG.info("the node moves");
        page.run("kubectl label node NODE example.com/gpufleet=yes");
        assertServedBy(OURS);
        awaitOwners(GPUFLEET);
        DoctorReport.assertNothingFails();
    }

    /** Back, with gpufleet beside. */
    private void back() throws Exception {
        LOG.info("the node goes back");
        int before = logged(SUPERSEDED);
        page.run("kubectl label node NODE example.com/gpufleet-");
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(logged(SUPERSEDED)).isEqualTo(before + 1));
        assertServedBy(NVIDIAS);
    }

    /** Step 6: once more, and NVIDIA's DaemonSets are deleted. */
    private void moveForGood() throws Exception {
        LOG.info("the node moves, and NVIDIA's programs are deleted");
        page.run("kubectl label node NODE example.com/gpufleet=yes");
        assertServedBy(OURS);
        page.run("kubectl -n kube-system delete ds nvidia-device-plugin-daemonset");
        page.run("kubectl -n node-feature-discovery delete ds gpu-feature-discovery");
        assertServedBy(OURS);
        awaitOwners(GPUFLEET);
    }

    /** NVIDIA's programs come again, and gpufleet leaves, in the order of the page. */
    private void backForGood(NvidiaPrograms nvidia) throws Exception {
        LOG.info("NVIDIA's programs come again, and gpufleet leaves");
        nvidia.apply();
        page.run("kubectl label node NODE example.com/gpufleet-");
        assertServedBy(NVIDIAS);

        page.run("kubectl -n gpufleet-node delete ds node-daemon");
        node.awaitGpus(0);
        page.run("kubectl -n kube-system rollout restart ds/nvidia-device-plugin-daemonset");
        assertServedBy(NVIDIAS);

        page.assertHas("./gpufleet purge\n");
        assertThat(Installation.purgeByCommandLine()).isZero();
        assertThat(FeatureDiscovery.owners(cluster)).isEmpty();
        page.run("kubectl -n node-feature-discovery rollout restart deployment/nfd-master");
        awaitOwners(MASTER);
        LOG.info("NVIDIA's programs alone again");
    }

    /** As many GPUs are allocatable, all that are free go to a new pod, and the pod that runs is not disturbed. */
    private void assertServedBy(int gpus) {
        node.awaitGpus(gpus);
        run(PROBE, gpus - 2, "true");
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(
                        () -> assertThat(cluster.podState(NAMESPACE, PROBE)).startsWith("Succeeded"));
        assertThat(cluster.podState(NAMESPACE, HOLDER)).isEqualTo(running);
    }

    /** The pod tolerates the taint of nodes with GPUs, which the component gpu-taint adds. */
    private void run(String name, int gpus, String command) {
        cluster.deletePod(NAMESPACE, name);
        cluster.client()
                .resource(new PodBuilder(RealCluster.pod(NAMESPACE, name, gpus, command))
                        .editSpec()
                        .addNewToleration(null, GPU, "Exists", null, null)
                        .endSpec()
                        .build())
                .create();
    }

    private void awaitOwners(String... managers) {
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(
                        () -> assertThat(FeatureDiscovery.owners(cluster)).containsExactly(managers));
    }

    /** How often the daemon of the node logged this. */
    private static int logged(String message) {
        String log = Kubectl.run("-n", Installation.NODES, "logs", "daemonset/node-daemon", "--tail=-1");
        return (int) log.lines().filter(line -> line.contains(message)).count();
    }
}
