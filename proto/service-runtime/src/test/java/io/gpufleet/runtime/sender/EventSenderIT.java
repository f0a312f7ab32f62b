package io.gpufleet.runtime.sender;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.kafka.ScramUsers;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.TraceParent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class EventSenderIT {
    private static final String USER = "health-service";
    private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

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
                ScramUsers.add(broker, "secret", List.of(USER));

                // Then
                await().atMost(Duration.ofSeconds(60)).until(() -> sends(sender));
            }
        }
    }

    @Test
    void everyFactBeginsATraceOfItsOwnAndKeepsOneThatItCarries(@TempDir Path dir) throws Exception {
        var codec = new Codec("c1", new Topics("gpu."));
        try (var broker = BrokerProcess.start(dir.resolve("kafka"))) {
            createTopics(broker);
            try (var sender = EventSender.open(
                    KafkaClients.plain(broker.bootstrap()),
                    codec,
                    new EventSource.Service("c1", "health-service-0"),
                    Topic.HEALTH_STATE,
                    CompletableFuture.completedFuture(1000L),
                    Clock.systemUTC())) {
                // When
                send(sender, EventType.COMMAND_ISSUED, "");
                send(sender, EventType.KUBERNETES_OBSERVED, "");
                send(sender, EventType.KUBERNETES_OBSERVED, TRACE);
            }

            // Then
            assertThat(signals(broker))
                    .extracting(rec -> new String(
                            rec.headers().lastHeader("ce_traceparent").value(), UTF_8))
                    .containsExactly(
                            TraceParent.of(new EventId("health-service-0", 1000, Topic.SIGNALS, 1)),
                            TraceParent.of(new EventId("health-service-0", 1000, Topic.SIGNALS, 2)),
                            TRACE);
        }
    }

    /** The three records of one key, in their order. */
    private static List<ConsumerRecord<byte[], byte[]>> signals(BrokerProcess broker) {
        var config = new Properties();
        config.put("bootstrap.servers", broker.bootstrap());
        List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            var partition = new TopicPartition("gpu.signals", Topic.SIGNALS.partitionOf("n1"));
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            await().atMost(Duration.ofSeconds(60)).until(() -> {
                consumer.poll(Duration.ofMillis(100)).forEach(found::add);
                return found.size() == 3;
            });
        }
        return found;
    }

    private static void send(EventSender sender, EventType type, String trace) {
        sender.send(new Outbound.Event(Topic.SIGNALS, type, "n1", type.prototype(), "", Instant.now(), trace))
                .toCompletableFuture()
                .join();
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

    private static void createTopics(BrokerProcess broker) throws Exception {
        try (Admin admin = admin(broker)) {
            admin.createTopics(List.of(
                            new NewTopic("gpu.signals", 32, (short) 1),
                            new NewTopic("gpu.health-state", 32, (short) 1)))
                    .all()
                    .get();
        }
    }

    private static void prepare(BrokerProcess broker) throws Exception {
        createTopics(broker);
        try (Admin admin = admin(broker)) {
            var everyTopic = new ResourcePattern(ResourceType.TOPIC, "gpu.", PatternType.PREFIXED);
            var write = new AccessControlEntry("User:" + USER, "*", AclOperation.WRITE, AclPermissionType.ALLOW);
            admin.createAcls(List.of(new AclBinding(everyTopic, write))).all().get();
        }
    }

    private static Admin admin(BrokerProcess broker) {
        var plain = new Properties();
        plain.put("bootstrap.servers", broker.bootstrap());
        return Admin.create(plain);
    }
}
