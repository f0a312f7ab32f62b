package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two replicas, of which only the standby reaches the broker after a while; the API server is reached by both. */
class HealthServiceCutIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String ACTIVE = "gpufleet_active 1.0";
    private static final String PATCHES = "gpufleet_node_patches_total ";
    private static final int NODES = 4;

    @TempDir
    private static Path dir;

    private final List<DaemonEventProducer> daemons = new ArrayList<>();
    private final AtomicInteger bothActive = new AtomicInteger();
    private TestBed bed;
    private ProgramProcess cutOff;
    private ProgramProcess standby;

    @BeforeEach
    void startTwoReplicas() {
        bed = TestBed.startWithProxy(dir);
        daemons.addAll(TestedHealthService.announceNodes(bed, NODES));
        cutOff = start("health-service-0", bed.broker().proxiedBootstrap());
        await().atMost(TIMEOUT).until(() -> cutOff.hasMetric(ACTIVE));
        standby = start("health-service-1", bed.broker().bootstrap());
        await().atMost(TIMEOUT).until(standby::isReady);
    }

    @AfterEach
    void stopAll() {
        bed.broker().proxy().heal();
        daemons.forEach(DaemonEventProducer::close);
        standby.close();
        cutOff.close();
        bed.close();
    }

    private ProgramProcess start(String instance, String bootstrap) {
        return TestedHealthService.program(dir)
                .environment(bed.settings())
                .environment(Map.of("GPUFLEET_KAFKA", bootstrap, "GPUFLEET_INSTANCE", instance))
                .start();
    }

    @Test
    void replicaThatLostTheBrokerWritesNoNodeMoreAndNoTaintIsMissing() {
        // Given a taint that the first replica applied
        daemons.get(0).observeXid(0, 79);
        awaitTaint("node-0", true);
        await().atMost(TIMEOUT).until(() -> patches(cutOff) > 0);

        // When
        bed.broker().proxy().cut();
        daemons.get(1).observeXid(0, 79);

        // Then the other one takes over, never beside it
        await().atMost(TIMEOUT).until(() -> oneLeads(standby));
        awaitTaint("node-1", true);
        assertThat(cutOff.isReady()).isFalse();
        await().atMost(TIMEOUT).until(() -> cutOff.get("/readyz").body().contains("has not answered for"));

        // When the Node changes in sight of the replica that still believes in the old taint
        double before = patches(cutOff);
        daemons.get(0).clearXid(0, 79);
        awaitTaint("node-0", false);
        daemons.get(2).observeXid(0, 79);
        awaitTaint("node-2", true);

        // Then
        assertThat(taint("node-0")).isFalse();
        assertThat(patches(cutOff)).isEqualTo(before);

        // When the broker is reached again, by one that has not heard of all this
        bed.broker().proxy().heal();
        await().atMost(TIMEOUT).until(() -> cutOff.isReady() && oneLeads(standby));
        daemons.get(3).observeXid(0, 79);
        awaitTaint("node-3", true);

        // Then
        assertThat(taint("node-0")).isFalse();
        assertThat(patches(cutOff)).isEqualTo(before);
        assertThat(bothActive).hasValue(0);
    }

    /** The later leader is asked first: both answers are true only if both led at once. */
    private boolean oneLeads(ProgramProcess later) {
        boolean leads = later.hasMetric(ACTIVE);
        if (leads && cutOff.hasMetric(ACTIVE)) {
            bothActive.incrementAndGet();
        }
        return leads;
    }

    private void awaitTaint(String node, boolean expected) {
        await().atMost(TIMEOUT).until(() -> taint(node) == expected);
    }

    private boolean taint(String name) {
        KubernetesClient client = bed.client();
        Node node = client.nodes().withName(name).require();
        return node.getSpec() != null
                && node.getSpec().getTaints().stream()
                        .anyMatch(taint -> taint.getKey().equals("gpufleet.io/unhealthy"));
    }

    private static double patches(ProgramProcess replica) {
        return replica.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(PATCHES))
                .mapToDouble(line -> Double.parseDouble(line.substring(PATCHES.length())))
                .sum();
    }
}
