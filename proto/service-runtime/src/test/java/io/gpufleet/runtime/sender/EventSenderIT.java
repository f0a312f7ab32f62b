package io.gpufleet.runtime.sender;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class EventSenderIT {
    private static final String USER = "health-service";

    @Test
    void senderThatWasRefusedSendsOnceItsPasswordIsKnown(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.startSecured(dir.resolve("kafka"))) {
            // Given a broker that does not know the user yet
            prepare(broker);
            Path file = Files.writeString(dir.resolve("client"), broker.clientProperties(USER, "secret"));
            try (var sender = EventSender.open(
                    KafkaClients.of(broker.securedBootstrap(), file.toString()),
                    new Codec("c1", new Topics("gpu.")),
                    new EventSource.Service("c1", "health-service-0"),
                    Topic.HEALTH_STATE,
                    CompletableFuture.completedFuture(1000L),
                    Clock.systemUTC())) {
                assertThat(sends(sender)).isFalse();

                // When
                addUser(broker);

                // Then
                await().atMost(Duration.ofSeconds(60)).until(() -> sends(sender));
            }
        }
    }

    private static boolean sends(EventSender sender) {
        return sender.send(Outbound.Event.of(
                        Topic.SIGNALS,
                        EventType.COMMAND_ISSUED,
                        "n1",
                        EventType.COMMAND_ISSUED.prototype(),
                        Instant.now()))
                .handle((_, failure) -> failure == null)
                .toCompletableFuture()
                .join();
    }

    private static void prepare(BrokerProcess broker) throws Exception {
        try (Admin admin = admin(broker)) {
            admin.createTopics(List.of(
                            new NewTopic("gpu.signals", 32, (short) 1),
                            new NewTopic("gpu.health-state", 32, (short) 1)))
                    .all()
                    .get();
            var everyTopic = new ResourcePattern(ResourceType.TOPIC, "gpu.", PatternType.PREFIXED);
            var write = new AccessControlEntry("User:" + USER, "*", AclOperation.WRITE, AclPermissionType.ALLOW);
            admin.createAcls(List.of(new AclBinding(everyTopic, write))).all().get();
        }
    }

    private static void addUser(BrokerProcess broker) throws Exception {
        try (Admin admin = admin(broker)) {
            var credentials = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096);
            admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(USER, credentials, "secret")))
                    .all()
                    .get();
        }
    }

    private static Admin admin(BrokerProcess broker) {
        var plain = new Properties();
        plain.put("bootstrap.servers", broker.bootstrap());
        return Admin.create(plain);
    }
}
