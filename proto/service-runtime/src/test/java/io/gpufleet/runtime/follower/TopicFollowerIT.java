package io.gpufleet.runtime.follower;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class TopicFollowerIT {
    private static final String CLUSTER = "c1";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Codec CODEC = new Codec(CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
    private static final TopicFollower.Followed FOLLOWED =
            new TopicFollower.Followed(Topic.SIGNALS, Duration.ofHours(1));

    @TempDir
    private static Path directory;

    private static BrokerProcess broker;

    @BeforeAll
    static void write() throws Exception {
        broker = BrokerProcess.start(directory.resolve("kafka"));
        try (var admin = Admin.create(clients().properties("admin"));
                var producer = new KafkaProducer<>(
                        clients().properties("writer"), new StringSerializer(), new ByteArraySerializer())) {
            admin.createTopics(List.of(
                            new NewTopic(CODEC.topics().name(Topic.SIGNALS), Topic.SIGNALS.partitions(), (short) 1)))
                    .all()
                    .get();
            for (int sequence = 1; sequence <= 3; sequence++) {
                var id = new EventId("health-service-0", 1000, Topic.SIGNALS, sequence);
                var envelope = new Envelope(
                        id,
                        new EventSource.Service(CLUSTER, "health-service-0"),
                        EventType.COMMAND_ISSUED,
                        "",
                        "node-1",
                        new EventTime(Instant.now(), Instant.now(), 0),
                        "");
                producer.send(CODEC.encode(envelope, Codec.toJson(OperatorCommand.getDefaultInstance())))
                        .get();
            }
        }
    }

    @AfterAll
    static void end() {
        broker.close();
    }

    @Test
    void eventThatItsReactionCannotTakeIsSkipped() {
        // Given
        BlockingQueue<Long> taken = new LinkedBlockingQueue<>();
        // When
        try (var _ = follow(event -> {
            long sequence = event.envelope().id().sequence();
            if (sequence == 2) {
                throw new IllegalStateException("not this one");
            }
            taken.add(sequence);
        })) {
            // Then
            await().atMost(TIMEOUT).untilAsserted(() -> assertThat(taken).containsExactly(1L, 3L));
        }
    }

    @Test
    void failureBesideTheEventsBeginsAnew() {
        // Given a listener that fails when it is told that all was read, once
        var begun = new AtomicInteger();
        var loaded = new AtomicInteger();
        TopicListener listener = new TopicListener() {
            @Override
            public void started() {
                begun.incrementAndGet();
            }

            @Override
            public void event(DecodedRecord.Event event) {}

            @Override
            public void loaded() {
                if (begun.get() == 1) {
                    throw new IllegalStateException("once");
                }
                loaded.incrementAndGet();
            }
        };
        // When
        try (var _ = follow(listener)) {
            // Then
            await().atMost(TIMEOUT).untilAsserted(() -> assertThat(loaded).hasValue(1));
            assertThat(begun).hasValue(2);
        }
    }

    private static TopicFollower follow(TopicListener listener) {
        return TopicFollower.start(clients(), CODEC, FOLLOWED, listener, Clock.systemUTC());
    }

    private static KafkaClients clients() {
        return KafkaClients.plain(broker.bootstrap());
    }
}
