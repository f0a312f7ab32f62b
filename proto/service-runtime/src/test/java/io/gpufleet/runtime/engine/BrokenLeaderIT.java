package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.kafka.ScramUsers;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A leader whose commits fail, while its broker answers: a right that is refused, a topic or a disk that is gone. */
@NullMarked
class BrokenLeaderIT {
    private static final String FIRST = "health-service-0";
    private static final String SECOND = "health-service-1";
    private static final String PASSWORD = "of-a-test";

    @TempDir
    private Path dir;

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    @Test
    void leaderWhoseRightIsRefusedResignsAndTheStandbyTakesOver() throws Exception {
        try (var broker = BrokerProcess.startSecured(dir.resolve("kafka"))) {
            TestBus bus = TestBus.onBroker(broker);
            KafkaClients ofFirst = allowAll(bus, FIRST);
            KafkaClients ofSecond = allowAll(bus, SECOND);
            String decisions = bus.topics.name(Topic.DECISIONS);
            AclBinding refusal = acl(FIRST, ResourceType.TOPIC, decisions, AclOperation.WRITE, AclPermissionType.DENY);
            String line = "Kafka refuses topic " + decisions + ": grant WRITE on it";
            try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                    var admin = bus.admin();
                    var first = bus.start(FIRST, new CountingProjection(), ofFirst)) {
                await().until(first::active);
                try (var second = bus.start(SECOND, new CountingProjection(), ofSecond)) {
                    await().until(() -> second.role() == ReplicaRole.STANDBY);

                    // When
                    admin.createAcls(List.of(refusal)).all().get();
                    node.send(node.fault("GPU-1", 79, ""));

                    // Then
                    await().until(second::active);
                    await().until(() -> second.counters().get("events") == 1);
                    assertThat(bus.decisionEvidence(true)).containsExactly("n1/1000/health/1");
                    assertThat(first.counters().get("terms")).isEqualTo(3);
                    assertThat(first.counters().get("failed_terms")).isEqualTo(3);
                    assertThat(first.counters().get("resignations")).isEqualTo(1);
                    assertThat(second.readinessFailures()).isEmpty();

                    // And it says why, also as a standby that follows
                    await().until(() -> first.role() == ReplicaRole.STANDBY);
                    assertThat(first.readinessFailures())
                            .anySatisfy(reason -> assertThat(reason).startsWith("resigned after 3 terms"))
                            .allSatisfy(reason -> assertThat(reason).contains(line));
                }

                // When it leads again once it may
                admin.deleteAcls(List.of(refusal.toFilter())).all().get();
                node.send(node.fault("GPU-2", 79, ""));

                // Then
                await().until(() -> bus.decisionEvidence(true).size() == 2);
                await().until(() -> first.active() && first.readinessFailures().isEmpty());
            }
        }
    }

    @Test
    void topicThatIsMissingUnderALeaderIsWaitedForAndNothingIsLost() throws Exception {
        TestBus bus = TestBus.withNewPrefix();
        String decisions = bus.topics.name(Topic.DECISIONS);
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var admin = bus.admin();
                var first = bus.start(FIRST, new CountingProjection())) {
            await().until(first::active);
            try (var second = bus.start(SECOND, new CountingProjection())) {
                await().until(() -> second.role() == ReplicaRole.STANDBY);

                // When
                admin.deleteTopics(List.of(decisions)).all().get();
                node.send(node.fault("GPU-1", 79, ""));

                // Then
                await().until(() -> !first.active() && says(first, "topic " + decisions + " is missing"));
                await().until(() -> first.counters().get("resignations") > 0);

                // When it is there again
                admin.createTopics(List.of(new NewTopic(decisions, Topic.DECISIONS.partitions(), (short) 1)))
                        .all()
                        .get();

                // Then both replicas recover, whichever of them leads
                await().until(() -> bus.decisionEvidence(true).equals(List.of("n1/1000/health/1")));
                await().until(() -> first.active() != second.active()
                        && first.readinessFailures().isEmpty()
                        && second.readinessFailures().isEmpty());
            }
        }
    }

    @Test
    void leaderResignsOnAFullDiskOfABrokerUntilThereIsRoom() throws Exception {
        try (var broker = BrokerProcess.start(dir.resolve("first"))) {
            TestBus bus = TestBus.onBroker(broker);
            String decisions = bus.topics.name(Topic.DECISIONS);
            // Kafka's own topics are made on the first broker.
            try (var engine = bus.start(FIRST, new CountingProjection())) {
                await().until(engine::active);
            }
            try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                    var admin = bus.admin();
                    var other = BrokerProcess.join(dir.resolve("second"), 2, dir.resolve("first"))) {
                // Given decisions on another broker than everything else
                admin.deleteTopics(List.of(decisions)).all().get();
                await().until(() -> !admin.listTopics().names().get().contains(decisions));
                admin.createTopics(List.of(new NewTopic(decisions, onBroker(2))))
                        .all()
                        .get();
                try (var engine = bus.start(FIRST, new CountingProjection())) {
                    await().until(engine::active);

                    // When no file of that broker can grow
                    limitFileSize(other, "0");
                    node.send(node.fault("GPU-1", 79, ""));

                    // Then
                    await().atMost(Duration.ofMinutes(2))
                            .until(() -> engine.counters().get("resignations") > 0);
                    assertThat(engine.active()).isFalse();
                    assertThat(engine.readinessFailures())
                            .anySatisfy(reason -> assertThat(reason).startsWith("resigned after 3 terms"));

                    // When there is room again; a broker ends when its last disk fails
                    other.kill();
                    other.restart();

                    // Then
                    await().until(() -> bus.decisionEvidence(true).equals(List.of("n1/1000/health/1")));
                    await().until(() ->
                            engine.active() && engine.readinessFailures().isEmpty());
                }
            }
        }
    }

    private static boolean says(ProjectionEngine<NodeHealthState> engine, String text) {
        return engine.readinessFailures().toString().contains(text);
    }

    private static Map<Integer, List<Integer>> onBroker(int id) {
        var replicas = new TreeMap<Integer, List<Integer>>();
        for (int partition = 0; partition < Topic.DECISIONS.partitions(); partition++) {
            replicas.put(partition, List.of(id));
        }
        return Collections.unmodifiableMap(replicas);
    }

    /** The soft limit, which whoever starts the broker again does not inherit. */
    private static void limitFileSize(BrokerProcess broker, String bytes) throws Exception {
        Process prlimit = new ProcessBuilder("prlimit", "--pid", Long.toString(broker.pid()), "--fsize=" + bytes + ":")
                .redirectErrorStream(true)
                .start();
        String output = prlimit.inputReader().readAllAsString();
        assertThat(prlimit.waitFor()).as(output).isZero();
    }

    /** Makes a user who may do everything. */
    private KafkaClients allowAll(TestBus bus, String user) throws Exception {
        ScramUsers.add(bus.broker, PASSWORD, List.of(user));
        try (Admin admin = bus.admin()) {
            admin.createAcls(List.of(
                            acl(user, ResourceType.TOPIC, "*", AclOperation.ALL, AclPermissionType.ALLOW),
                            acl(user, ResourceType.GROUP, "*", AclOperation.ALL, AclPermissionType.ALLOW),
                            acl(user, ResourceType.TRANSACTIONAL_ID, "*", AclOperation.ALL, AclPermissionType.ALLOW)))
                    .all()
                    .get();
        }
        Path file = Files.writeString(dir.resolve(user + ".properties"), bus.broker.clientProperties(user, PASSWORD));
        var clients = KafkaClients.of(bus.broker.securedBootstrap(), file.toString());
        await().ignoreExceptions().until(() -> {
            try (Admin asUser = Admin.create(clients.properties("known"))) {
                return !asUser.listTopics().names().get().isEmpty();
            }
        });
        return clients;
    }

    private static AclBinding acl(
            String user, ResourceType type, String name, AclOperation operation, AclPermissionType permission) {
        return new AclBinding(
                new ResourcePattern(type, name, PatternType.LITERAL),
                new AccessControlEntry("User:" + user, "*", operation, permission));
    }
}
