package io.gpufleet.runtime.follower;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.kafka.ScramUsers;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

@NullMarked
class TopicFollowerIT {
    private static final String CLUSTER = "c1";
    private static final String NODE = "node-1";
    private static final String SERVICE = "health-service";
    private static final String PASSWORD = "of-a-test";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Codec CODEC = new Codec(CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
    private static final TopicFollower.Followed FOLLOWED =
            new TopicFollower.Followed(Topic.SIGNALS, Duration.ofHours(1), SERVICE);

    @TempDir
    private static Path directory;

    private static BrokerProcess broker;

    @BeforeAll
    static void write() throws Exception {
        broker = BrokerProcess.start(directory.resolve("kafka"));
        try (var admin = admin();
                var producer = producer()) {
            create(admin, CODEC);
            write(producer, CODEC, 1, 3);
        }
    }

    private static void create(Admin admin, Codec codec) throws Exception {
        admin.createTopics(List.of(
                        new NewTopic(codec.topics().name(Topic.SIGNALS), Topic.SIGNALS.partitions(), (short) 1)))
                .all()
                .get();
    }

    private static void makeAnew(Admin admin, Codec codec) throws Exception {
        String name = codec.topics().name(Topic.SIGNALS);
        admin.deleteTopics(List.of(name)).all().get();
        await().atMost(TIMEOUT).until(() -> !admin.listTopics().names().get().contains(name));
        create(admin, codec);
    }

    /** Events of one node, and so of one partition. */
    private static void write(Producer<String, byte[]> producer, Codec codec, int first, int last) throws Exception {
        for (int sequence = first; sequence <= last; sequence++) {
            var envelope = new Envelope(
                    new EventId("health-service-0", 1000, Topic.SIGNALS, sequence),
                    new EventSource.Service(CLUSTER, "health-service-0"),
                    EventType.COMMAND_ISSUED,
                    "",
                    NODE,
                    new EventTime(Instant.now(), Instant.now(), 0),
                    "");
            producer.send(codec.encode(envelope, Codec.toJson(OperatorCommand.getDefaultInstance())))
                    .get();
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

    @Test
    void recordsThatRetentionRemovedBeforeTheyWereReadAreCountedAndTheRestIsRead() throws Exception {
        var codec = new Codec(CLUSTER, new Topics("retained."));
        var partition = new TopicPartition(codec.topics().name(Topic.SIGNALS), Topic.SIGNALS.partitionOf(NODE));
        BlockingQueue<Long> taken = new LinkedBlockingQueue<>();
        var slow = new CountDownLatch(1);
        try (var admin = admin();
                var producer = producer();
                var log = new FollowerLog()) {
            create(admin, codec);
            write(producer, codec, 1, 1);
            // Given a reader that is slow
            try (var _ = TopicFollower.start(
                    clients(),
                    codec,
                    FOLLOWED,
                    event -> {
                        taken.add(event.envelope().id().sequence());
                        await().atMost(TIMEOUT).until(() -> slow.getCount() == 0);
                    },
                    Clock.systemUTC())) {
                await().atMost(TIMEOUT).until(() -> taken.contains(1L));

                // When all but the last record is removed meanwhile
                write(producer, codec, 2, 20);
                admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(19)))
                        .all()
                        .get();
                slow.countDown();

                // Then
                await().atMost(TIMEOUT).until(() -> taken.contains(20L));
                assertThat(log.lines("broker no longer has this offset, reading from the beginning of what it has"))
                        .singleElement()
                        .asString()
                        .contains("topic=\"retained.signals\"", "skipped=\"" + (20 - taken.size()) + "\"");
            }
        }
    }

    @Test
    void topicThatIsShorterThanWhatWasReadOfItIsReadAnew() throws Exception {
        var codec = new Codec(CLUSTER, new Topics("anew."));
        BlockingQueue<Long> taken = new LinkedBlockingQueue<>();
        try (var admin = admin();
                var producer = producer();
                var log = new FollowerLog()) {
            create(admin, codec);
            write(producer, codec, 1, 5);
            try (var _ = TopicFollower.start(
                    clients(),
                    codec,
                    FOLLOWED,
                    event -> taken.add(event.envelope().id().sequence()),
                    Clock.systemUTC())) {
                await().atMost(TIMEOUT).until(() -> taken.size() == 5);

                // When it is another one of the same name
                makeAnew(admin, codec);
                write(producer, codec, 6, 7);

                // Then
                await().atMost(TIMEOUT)
                        .untilAsserted(() -> assertThat(taken).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L));
                assertThat(log.lines("topic cannot be read, retrying"))
                        .singleElement()
                        .asString()
                        .contains("topic=\"anew.signals\"", "topic is shorter than what was read of it");
            }
        }
    }

    @Test
    void topicThatIsMadeAnewAndAtLeastAsLongIsReadAnew() throws Exception {
        var codec = new Codec(CLUSTER, new Topics("longer."));
        BlockingQueue<Long> taken = new LinkedBlockingQueue<>();
        try (var admin = admin();
                var producer = producer();
                var log = new FollowerLog()) {
            create(admin, codec);
            write(producer, codec, 1, 2);
            // Given a reader that is slow until the topic is another one
            var anew = new CountDownLatch(1);
            try (var _ = new TopicFollower(
                            clients(),
                            codec,
                            FOLLOWED,
                            event -> {
                                taken.add(event.envelope().id().sequence());
                                await().atMost(TIMEOUT).until(() -> taken.size() < 2 || anew.getCount() == 0);
                            },
                            Clock.systemUTC(),
                            Duration.ofMillis(200))
                    .start()) {
                await().atMost(TIMEOUT).until(() -> taken.size() == 2);

                // When it has more records than the one that was read
                makeAnew(admin, codec);
                write(producer, codec, 3, 6);
                anew.countDown();

                // Then
                await().atMost(TIMEOUT).untilAsserted(() -> assertThat(taken).containsExactly(1L, 2L, 3L, 4L, 5L, 6L));
                assertThat(log.lines("topic cannot be read, retrying"))
                        .singleElement()
                        .asString()
                        .contains("topic=\"longer.signals\"", "topic was deleted and made anew");
            }
        }
    }

    @Test
    void followerThatMayNotReadItsTopicNamesTheRight(@TempDir Path dir) throws Exception {
        try (var secured = BrokerProcess.startSecured(dir.resolve("kafka"));
                var admin = Admin.create(KafkaClients.plain(secured.bootstrap()).properties("admin"));
                var log = new FollowerLog()) {
            // Given a user without rights
            create(admin, CODEC);
            ScramUsers.add(secured, PASSWORD, List.of(SERVICE));
            Path file =
                    Files.writeString(dir.resolve("client.properties"), secured.clientProperties(SERVICE, PASSWORD));
            var clients = KafkaClients.of(secured.securedBootstrap(), file.toString());

            // When
            try (var _ = TopicFollower.start(clients, CODEC, FOLLOWED, _ -> {}, Clock.systemUTC())) {
                // Then
                await().atMost(TIMEOUT)
                        .untilAsserted(() -> assertThat(log.lines("topic cannot be read, retrying"))
                                .anySatisfy(line -> assertThat(line)
                                        .contains(
                                                "Kafka refuses topic gpu.signals: grant READ on it to the principal of "
                                                        + SERVICE)));
            }
        }
    }

    /** What followers log while it is open. */
    private static final class FollowerLog implements AutoCloseable {
        private final Logger logger = (Logger) LoggerFactory.getLogger(TopicFollower.class);
        private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

        FollowerLog() {
            appender.start();
            logger.addAppender(appender);
        }

        /** Values of each line with this message. */
        List<String> lines(String message) {
            return List.copyOf(appender.list).stream()
                    .filter(event -> event.getMessage().equals(message))
                    .map(event -> event.getKeyValuePairs().toString())
                    .toList();
        }

        @Override
        public void close() {
            logger.detachAppender(appender);
        }
    }

    private static Admin admin() {
        return Admin.create(clients().properties("admin"));
    }

    private static Producer<String, byte[]> producer() {
        return new KafkaProducer<>(clients().properties("writer"), new StringSerializer(), new ByteArraySerializer());
    }

    private static TopicFollower follow(TopicListener listener) {
        return TopicFollower.start(clients(), CODEC, FOLLOWED, listener, Clock.systemUTC());
    }

    private static KafkaClients clients() {
        return KafkaClients.plain(broker.bootstrap());
    }
}
