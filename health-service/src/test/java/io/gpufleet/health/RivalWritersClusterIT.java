package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.health.kubernetes.ClusterTrust;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.testbed.testkit.TracedApiServer;
import io.gpufleet.testbed.testkit.TracedApiServer.Trace;
import io.gpufleet.testbed.testkit.TracedApiServer.Write;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program as its own ServiceAccount on the API server of GPUFLEET_TEST_KUBECONFIG, behind a way that records its requests,
 * while a rival changes status, labels and taints of the same Nodes fifty times a second.
 */
class RivalWritersClusterIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String ACCOUNT = "gpufleet-it-rival";
    private static final String CLUSTER = "it";
    private static final String INSTANCE = "health-service-0";
    private static final int NODES = 20;
    private static final int GPUS = 8;
    /** Half a minute of a rival that writes fifty times a second. */
    private static final int WRITES_OF_THE_RIVAL = 1_500;

    @TempDir
    private Path dir;

    private final Codec codec = new Codec(CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
    private final List<DaemonEventProducer> daemons = new ArrayList<>();
    private final Trace trace = Trace.concurrent();
    private TestServiceAccount account;
    private TracedApiServer way;
    private BrokerProcess broker;
    private ProgramProcess service;

    @BeforeEach
    void startTheService() throws IOException, GeneralSecurityException {
        account = TestServiceAccount.create(ACCOUNT);
        removeNodes();
        broker = BrokerProcess.start(dir.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), codec.topics());
        for (int number = 0; number < NODES; number++) {
            admin().nodes()
                    .resource(new NodeBuilder()
                            .withNewMetadata()
                            .withName(node(number))
                            .addToLabels("example.com/it", ACCOUNT)
                            .endMetadata()
                            .withNewSpec()
                            // As most nodes with GPUs have it, so that the list is never empty.
                            .addNewTaint("NoSchedule", "nvidia.com/gpu", null, "present")
                            .endSpec()
                            .build())
                    .create();
            daemons.add(new DaemonEventProducer(broker.bootstrap(), codec, node(number)).announce(TestGpus.h100(GPUS)));
        }
        way = TracedApiServer.open(
                trace,
                INSTANCE,
                admin().getMasterUrl().toString().replaceAll("/$", ""),
                HttpClient.newBuilder().sslContext(ClusterTrust.of(admin().getConfiguration())));
        service = ProgramProcess.of("health-service", HealthMain.class.getName(), dir)
                .environment(Map.of("GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited"))
                .environment(Map.of(
                        "GPUFLEET_CLUSTER",
                        CLUSTER,
                        "GPUFLEET_KAFKA",
                        broker.bootstrap(),
                        "GPUFLEET_INSTANCE",
                        INSTANCE,
                        "KUBECONFIG",
                        way.kubeconfig(account.token(), dir.resolve("kubeconfig"))
                                .toString()))
                .start()
                .awaitReady(TIMEOUT);
        await().atMost(TIMEOUT).until(() -> service.hasMetric("gpufleet_active 1.0"));
        // The first sight of a Node object is a verdict of its own.
        await().atMost(TIMEOUT).until(() -> nodes().stream().allMatch(this::knows));
    }

    private boolean knows(Node node) {
        return service.get("/v1/nodes/" + node.getMetadata().getName() + "/why")
                .body()
                .contains("\"nodeUid\":\"" + node.getMetadata().getUid() + "\"");
    }

    @AfterEach
    void stopAll() {
        service.close();
        way.close();
        daemons.forEach(DaemonEventProducer::close);
        broker.close();
        removeNodes();
        account.close();
    }

    private KubernetesClient admin() {
        return account.admin();
    }

    private static String node(int number) {
        return "gpufleet-it-rival-" + number;
    }

    private List<Node> nodes() {
        return admin().nodes().withLabel("example.com/it", ACCOUNT).list().getItems();
    }

    private void removeNodes() {
        nodes().forEach(node -> admin().resource(node).delete());
        await().atMost(TIMEOUT).until(() -> nodes().isEmpty());
    }

    @Test
    void eachTaintIsOneRequestBesideARivalThatWritesFiftyTimesASecond() throws InterruptedException {
        // Given
        List<String> names =
                IntStream.range(0, NODES).mapToObj(RivalWritersClusterIT::node).toList();
        List<String> faults = new ArrayList<>();
        Map<String, String> lastWritten;
        long begin = System.nanoTime();

        // When one GPU after the other fails and is repaired
        try (var rival = new NodeRival(admin(), names)) {
            while (rival.written() < WRITES_OF_THE_RIVAL) {
                int gpu = faults.size() / NODES % GPUS;
                DaemonEventProducer daemon = daemons.get(faults.size() % NODES);
                daemon.observeXid(gpu, 79);
                await().atMost(TIMEOUT).until(() -> tainted(daemon.node()));
                daemon.clearXid(gpu, 79);
                await().atMost(TIMEOUT).until(() -> !tainted(daemon.node()));
                faults.add(daemon.node());
            }
            lastWritten = rival.stop();
            double seconds = (System.nanoTime() - begin) / 1e9;
            System.out.printf(
                    Locale.ROOT,
                    "the rival wrote %d times in %.1f s, %.1f a second, beside %d faults%n",
                    rival.written(),
                    seconds,
                    rival.written() / seconds,
                    faults.size());
        }

        // Then every taint of ours came and went by one request, and nothing of the rival's is lost
        List<Write> writes = trace.answered();
        List<String> refused = writes.stream()
                .filter(write -> !write.succeeded())
                .map(write -> write.status() + " " + write.path() + " " + write.body() + " " + write.answer())
                .toList();
        List<Write> ofNodes = writes.stream().filter(Write::ofNodeItself).toList();
        for (String name : names) {
            int expected = Collections.frequency(faults, name);
            assertThat(ofNodes.stream().filter(write -> write.addsTaint(name)))
                    .as("taints of %s", name)
                    .hasSize(expected);
            assertThat(ofNodes.stream().filter(write -> write.removesTaint(name)))
                    .as("ends of the taints of %s", name)
                    .hasSize(expected);
        }
        assertThat(ofNodes.stream().filter(Write::succeeded)).hasSize(2 * faults.size());
        // However late the watch is: ours is the first, so that a foreign taint that comes or goes does not move it.
        assertThat(refused).allMatch(line -> line.startsWith("422 ") && !line.contains("/status "));
        assertThat(refused)
                .as("refused of %s writes about %s faults", writes.size(), faults.size())
                .hasSizeLessThan(writes.size() / 100);
        assertThat(trace.reads()).hasSizeLessThanOrEqualTo(refused.size());
        assertThat(nodes())
                .allSatisfy(found -> assertThat(ofTheRival(found))
                        .isEqualTo(lastWritten.get(found.getMetadata().getName())));
    }

    private boolean tainted(String node) {
        return admin().nodes().withName(node).require().getSpec().getTaints().stream()
                .anyMatch(taint -> taint.getKey().equals("gpufleet.io/unhealthy") && "Xid79".equals(taint.getValue()));
    }

    /** Label, taints and condition of the rival, as {@link NodeRival} remembers them. */
    private static String ofTheRival(Node node) {
        ObjectMeta metadata = node.getMetadata();
        assertThat(node.getSpec().getTaints()).extracting(Taint::getKey).contains("nvidia.com/gpu");
        String taints = node.getSpec().getTaints().stream()
                .filter(taint -> taint.getKey().equals(NodeRival.KEY))
                .map(Taint::getValue)
                .collect(Collectors.joining(","));
        String condition = node.getStatus().getConditions().stream()
                .filter(each -> each.getType().equals(NodeRival.CONDITION))
                .map(each -> each.getReason())
                .collect(Collectors.joining(","));
        return NodeRival.text(metadata.getLabels().getOrDefault(NodeRival.KEY, ""), taints, condition);
    }
}
