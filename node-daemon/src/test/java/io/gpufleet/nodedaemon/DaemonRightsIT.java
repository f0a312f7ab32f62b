package io.gpufleet.nodedaemon;

import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.kafka.ScramUsers;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon on a broker that refuses it one right after the other. */
class DaemonRightsIT {
    private static final String USER = "node-daemon";
    private static final String NODE = "n-rights";
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);

    @TempDir
    private Path dir;

    @Test
    void daemonNamesEachRightThatItLacksAndGoesOnWithIt() throws Exception {
        try (var broker = BrokerProcess.startSecured(dir.resolve("kafka"));
                var admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()));
                var node = new DaemonTestNode("rights", dir)) {
            TopicAdmin.apply(broker.bootstrap(), TOPICS);
            ScramUsers.add(broker, "of-a-test", List.of(USER));
            // Given a daemon without any right
            try (var daemon = node.daemon(settings(broker));
                    var events = EventReader.ofNode(broker.bootstrap(), new Codec("c1", TOPICS), NODE)) {
                node.awaitAllocatable(8);

                // When it gets one after the other, then it asks for the next
                for (Topic topic : List.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.TELEMETRY)) {
                    awaitReason(daemon, "grant WRITE", topic);
                    allow(admin, topic, AclOperation.WRITE);
                }
                for (Topic topic : List.of(Topic.VERDICTS, Topic.SETTINGS)) {
                    awaitReason(daemon, "grant READ", topic);
                    allow(admin, topic, AclOperation.READ);
                }
                awaitReady(daemon);
                awaitEvent(events, EventType.NODE_ANNOUNCED);

                // When one is taken away while it is connected, then it says so and loses nothing
                AclBinding denied = acl(Topic.HEALTH, AclOperation.WRITE, AclPermissionType.DENY);
                admin.createAcls(List.of(denied)).all().get();
                daemon.fault(0, 79);
                awaitReason(daemon, "grant WRITE", Topic.HEALTH);
                node.awaitAllocatable(7);
                admin.deleteAcls(List.of(denied.toFilter())).all().get();
                awaitEvent(events, EventType.FAULT_OBSERVED);
                awaitReady(daemon);
            }
        }
    }

    private static void awaitReason(DaemonProcess daemon, String right, Topic topic) {
        await().atMost(DaemonTestNode.TIMEOUT)
                .until(() -> daemon.page("/readyz")
                        .lines()
                        .anyMatch(line -> line.contains(right) && line.contains(TOPICS.name(topic))));
    }

    private static void awaitReady(DaemonProcess daemon) {
        await().atMost(DaemonTestNode.TIMEOUT)
                .until(() -> daemon.page("/readyz").startsWith("200"));
    }

    private static void awaitEvent(EventReader events, EventType type) {
        await().atMost(DaemonTestNode.TIMEOUT)
                .until(() -> events.read().stream()
                        .anyMatch(read -> read.event().envelope().type() == type));
    }

    private Map<String, String> settings(BrokerProcess broker) throws Exception {
        Path configs = Files.createDirectories(dir.resolve("plugin-configs"));
        Files.writeString(configs.resolve("default"), "version: v1\n");
        Path clients = Files.writeString(dir.resolve("clients.properties"), broker.clientProperties(USER, "of-a-test"));
        return Map.of(
                "GPUFLEET_KAFKA", broker.securedBootstrap(),
                "GPUFLEET_KAFKA_CONFIG", clients.toString(),
                "GPUFLEET_CONFIG_DIR", configs.toString(),
                "GPUFLEET_NODE", NODE);
    }

    private static void allow(Admin admin, Topic topic, AclOperation operation) throws Exception {
        admin.createAcls(List.of(acl(topic, operation, AclPermissionType.ALLOW)))
                .all()
                .get();
    }

    private static AclBinding acl(Topic topic, AclOperation operation, AclPermissionType permission) {
        return new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, TOPICS.name(topic), PatternType.LITERAL),
                new AccessControlEntry("User:" + USER, "*", operation, permission));
    }
}
