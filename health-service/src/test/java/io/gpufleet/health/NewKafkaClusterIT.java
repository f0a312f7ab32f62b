package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster whose Nodes remember revisions of a Kafka that no longer exists; the program runs as its own ServiceAccount. */
class NewKafkaClusterIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    /** After a fault, however new the Kafka is. */
    private static final Duration TAINT = Duration.ofSeconds(10);

    private static final String CLUSTER = "it";
    private static final String TAINTED = "gpufleet-it-new-kafka-0";
    private static final String OTHER = "gpufleet-it-new-kafka-1";
    /** Tainted before, and without a fault once the new Kafka begins. */
    private static final String REPAIRED = "gpufleet-it-new-kafka-2";

    private static final List<String> NODES = List.of(TAINTED, OTHER, REPAIRED);

    @TempDir
    private static Path dir;

    private final Codec codec = new Codec(CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
    private TestServiceAccount account;

    @BeforeEach
    void createNodes() throws IOException {
        account = TestServiceAccount.create("gpufleet-it-new-kafka");
        deleteNodes();
        for (String name : NODES) {
            client().nodes()
                    .resource(new NodeBuilder()
                            .withNewMetadata()
                            .withName(name)
                            .endMetadata()
                            .build())
                    .create();
        }
    }

    @AfterEach
    void removeAll() {
        deleteNodes();
        account.close();
    }

    private void deleteNodes() {
        for (String name : NODES) {
            client().nodes().withName(name).withGracePeriod(0).delete();
            await().atMost(TIMEOUT).until(() -> client().nodes().withName(name).get() == null);
        }
    }

    @Test
    void taintsComeAndGoWithAKafkaMadeAnew() throws IOException {
        // Given a taint of several revisions, and then no Kafka any more
        try (var former = startKafka("former");
                var service = startService(former);
                var daemon = daemon(former, TAINTED);
                var repaired = daemon(former, REPAIRED)) {
            daemon.observeXid(1, 48).observeXid(0, 79);
            repaired.observeXid(0, 79);
            await().atMost(TIMEOUT).until(() -> taint(REPAIRED).equals(Optional.of("Xid79")));
            await().atMost(TIMEOUT).until(() -> taint(TAINTED).equals(Optional.of("Xid79")));
            assertThat(service.isAlive()).isTrue();
        }
        Optional<String> applied = applied(TAINTED);

        try (var anew = startKafka("anew");
                var service = startService(anew);
                var tainted = daemon(anew, TAINTED);
                var other = daemon(anew, OTHER);
                var repaired = daemon(anew, REPAIRED)) {
            await().atMost(TIMEOUT).until(() -> service.hasMetric("gpufleet_active 1.0"));

            // When
            tainted.listOpenXids(0, 79);
            other.observeXid(0, 79);
            repaired.listOpenXids(0);

            // Then the new revision outranks the one that is on the Node
            await().atMost(TAINT)
                    .until(() -> taint(OTHER).isPresent() && !applied(TAINTED).equals(applied));
            assertThat(taint(TAINTED)).contains("Xid79");
            await().atMost(TAINT).until(() -> taint(REPAIRED).isEmpty());
            tainted.clearXid(0, 79);
            await().atMost(TAINT).until(() -> taint(TAINTED).isEmpty());
            tainted.observeXid(1, 79);
            await().atMost(TAINT).until(() -> taint(TAINTED).isPresent());
        }
    }

    private KubernetesClient client() {
        return account.admin();
    }

    private BrokerProcess startKafka(String name) {
        BrokerProcess broker = BrokerProcess.start(dir.resolve(name));
        TopicAdmin.apply(broker.bootstrap(), codec.topics());
        return broker;
    }

    private ProgramProcess startService(BrokerProcess broker) throws IOException {
        return ProgramProcess.of("health-service", HealthMain.class.getName(), dir)
                .environment(Map.of("GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited"))
                .environment(Map.of(
                        "GPUFLEET_CLUSTER", CLUSTER,
                        "GPUFLEET_KAFKA", broker.bootstrap(),
                        "KUBECONFIG",
                                account.kubeconfig(dir.resolve("kubeconfig")).toString()))
                .start();
    }

    private DaemonEventProducer daemon(BrokerProcess broker, String node) {
        return new DaemonEventProducer(broker.bootstrap(), codec, node).announce(TestGpus.h100(2));
    }

    private Optional<String> applied(String name) {
        return Optional.ofNullable(client().nodes()
                .withName(name)
                .require()
                .getMetadata()
                .getAnnotations()
                .get("gpufleet.io/applied"));
    }

    private Optional<String> taint(String name) {
        return client().nodes().withName(name).require().getSpec().getTaints().stream()
                .filter(taint -> taint.getKey().equals("gpufleet.io/unhealthy"))
                .map(Taint::getValue)
                .findFirst();
    }
}
