package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Message;
import io.fabric8.kubernetes.api.model.Node;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.RecoveryAction;
import io.gpufleet.proto.inventory.v1.DriverState;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TracedApiServer;
import io.gpufleet.testbed.testkit.TracedApiServer.Trace;
import io.gpufleet.testbed.testkit.TracedApiServer.Write;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program in a large fleet of which some nodes fail, killed again and again while it taints them. */
class HealthServiceKilledFleetIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    /** Printed where the test fails; the same seed has the same order of faults and the same moments of the kills. */
    private static final long SEED = Long.getLong("gpufleet.kill.seed", System.currentTimeMillis());

    private static final String INSTANCE = "health-service-0";
    private static final int NODES = 10_005;
    private static final int FATAL = 200;
    private static final int FAULTS = 2_000;
    private static final int KILLS = 3;
    private static final int[] BENIGN = {13, 31, 43, 45, 63, 94};

    @TempDir
    private Path dir;

    private final Random random = new Random(SEED);
    private final long epoch = System.currentTimeMillis();
    private TestBed bed;

    @BeforeEach
    void startTheBed() {
        bed = TestBed.start(dir);
    }

    @AfterEach
    void closeTheBed() {
        bed.close();
    }

    private static String node(int number) {
        return "node-" + number;
    }

    @Test
    void exactlyTheNodesWithAFatalFaultAreTaintedOnceHoweverOftenTheProgramIsKilled() throws IOException {
        // Given
        var faulty = new ArrayList<>(IntStream.range(0, NODES).boxed().toList());
        Collections.shuffle(faulty, random);
        Set<String> fatal = faulty.stream()
                .limit(FATAL)
                .map(HealthServiceKilledFleetIT::node)
                .collect(Collectors.toSet());
        var trace = Trace.concurrent();
        try (var way = TracedApiServer.open(trace, INSTANCE, bed.apiServer().url())) {
            var fields = new NodeFields(bed.client());
            IntStream.range(0, NODES).parallel().forEach(number -> fields.create(node(number)));
            announceAll();
            try (var service = TestedHealthService.program(dir)
                    .environment(bed.settings())
                    .environment(Map.of(
                            "GPUFLEET_INSTANCE",
                            INSTANCE,
                            "KUBECONFIG",
                            way.kubeconfig(bed.kubeconfig(), dir.resolve("kubeconfig"))
                                    .toString()))
                    .start()
                    .awaitReady(TIMEOUT)) {
                // When
                var inAnyOrder = new ArrayList<>(faulty.subList(0, FAULTS));
                Collections.shuffle(inAnyOrder, random);
                fail(inAnyOrder, fatal);
                for (int taints : momentsOfKills()) {
                    await().alias("seed " + SEED)
                            .pollInterval(Duration.ofMillis(1))
                            .atMost(TIMEOUT)
                            .until(() -> trace.answered().size() >= taints);
                    service.restart();
                }

                // Then
                await().alias("seed " + SEED)
                        .atMost(TIMEOUT)
                        .until(() -> taintsAdded(trace).size() >= FATAL);
                await().alias("seed " + SEED)
                        .atMost(TIMEOUT)
                        .until(() -> service.isReady() && service.hasMetric("gpufleet_projection_lag 0.0"));
                assertThat(taintsAdded(trace)).as("seed %d", SEED).containsExactlyInAnyOrderElementsOf(fatal);
                List<Node> found = bed.client().nodes().list().getItems();
                assertThat(found).hasSize(NODES);
                assertThat(names(found, HealthServiceKilledFleetIT::isTainted))
                        .as("seed %d", SEED)
                        .containsExactlyInAnyOrderElementsOf(fatal);
                assertThat(names(found, HealthServiceKilledFleetIT::isLabelled))
                        .as("seed %d", SEED)
                        .containsExactlyInAnyOrderElementsOf(fatal);
            }
        }
    }

    /** Numbers of writes to the API server after which the program is killed, ascending. */
    private int[] momentsOfKills() {
        return random.ints(KILLS, 1, 2 * FATAL).sorted().toArray();
    }

    /** The Node of each write that added a taint. */
    private static List<String> taintsAdded(Trace trace) {
        return trace.answered().stream()
                .filter(Write::ofNodeItself)
                .filter(write -> write.addsTaint(nodeOf(write)))
                .map(HealthServiceKilledFleetIT::nodeOf)
                .toList();
    }

    private static String nodeOf(Write write) {
        return write.path().substring(write.path().lastIndexOf('/') + 1);
    }

    private static List<String> names(List<Node> nodes, Predicate<Node> wanted) {
        return nodes.stream()
                .filter(wanted)
                .map(node -> node.getMetadata().getName())
                .toList();
    }

    private static boolean isTainted(Node node) {
        return node.getSpec() != null
                && node.getSpec().getTaints().stream()
                        .anyMatch(taint ->
                                taint.getKey().equals("gpufleet.io/unhealthy") && "Xid79".equals(taint.getValue()));
    }

    private static boolean isLabelled(Node node) {
        return node.getMetadata().getLabels() != null
                && node.getMetadata().getLabels().containsKey("gpufleet.io/health");
    }

    private void announceAll() {
        send(IntStream.range(0, NODES)
                .mapToObj(
                        number -> record(Topic.INVENTORY, EventType.NODE_ANNOUNCED, node(number), announced(number))));
    }

    private static Message announced(int number) {
        return NodeAnnounced.newBuilder()
                .setBootId("boot-1")
                .setDriverState(DriverState.DRIVER_STATE_READY)
                .addGpus(Gpu.newBuilder().setUuid(gpu(node(number))).setLocalHealth(LocalHealth.LOCAL_HEALTH_HEALTHY))
                .build();
    }

    private static String gpu(String node) {
        return "GPU-" + node;
    }

    /** One fault of each of these nodes. */
    private void fail(List<Integer> faulty, Set<String> fatal) {
        send(faulty.stream().map(number -> {
            String node = node(number);
            int xid = fatal.contains(node) ? 79 : BENIGN[number % BENIGN.length];
            var fault = Fault.newBuilder()
                    .setDeviceUuid(gpu(node))
                    .setKind(FaultKind.FAULT_KIND_XID)
                    .setXid(xid)
                    .setRecoveryAction(RecoveryAction.RECOVERY_ACTION_NONE);
            var observed = FaultObserved.newBuilder().setBootId("boot-1").setFault(fault);
            return record(Topic.HEALTH, EventType.FAULT_OBSERVED, node, observed.build());
        }));
    }

    private ProducerRecord<String, byte[]> record(Topic topic, EventType type, String node, Message payload) {
        var at = Instant.now();
        return bed.codec()
                .encode(
                        new Envelope(
                                new EventId(node, epoch, topic, 1),
                                new EventSource.Node(TestBed.CLUSTER, node),
                                type,
                                "",
                                node,
                                new EventTime(at, at, 0),
                                ""),
                        payload);
    }

    private void send(Stream<ProducerRecord<String, byte[]>> records) {
        try (var producer = new KafkaProducer<>(
                Map.<String, Object>of("bootstrap.servers", bed.broker().bootstrap(), "linger.ms", 5),
                new StringSerializer(),
                new ByteArraySerializer())) {
            records.forEach(producer::send);
        }
    }
}
