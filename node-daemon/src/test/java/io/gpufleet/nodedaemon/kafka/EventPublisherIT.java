package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import io.gpufleet.nodedaemon.app.NodeFact;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.nodedaemon.model.fault.OpenFaults;
import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.TraceParent;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EventPublisherIT {
    private static final Duration QUARTER_HOUR = Duration.ofMinutes(15);
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);

    @TempDir
    static Path brokerDirectory;

    private static BrokerProcess broker;

    @TempDir
    Path directory;

    private final AtomicLong ahead = new AtomicLong();
    private final BlockingQueue<Boolean> backlogs = new LinkedBlockingQueue<>();
    private String node = "";

    @BeforeAll
    static void start() {
        broker = BrokerProcess.start(brokerDirectory);
        TopicAdmin.apply(broker.bootstrap(), TOPICS);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @BeforeEach
    void nameNode(TestInfo test) {
        node = "n-" + Integer.toHexString(test.getDisplayName().hashCode());
    }

    /** The daemon's clocks, which a test can advance. */
    private Moment now() {
        return new Moment(Instant.now().plusNanos(ahead.get()), System.nanoTime() + ahead.get());
    }

    private KafkaSettings settings() {
        return new KafkaSettings(
                KafkaClients.plain(broker.bootstrap()), "c1", "gpu.", node, "boot-1", directory, 1 << 20);
    }

    private static EventPublisher started(EventPublisher publisher) {
        return publisher.start(Duration.ZERO, () -> {});
    }

    private EventPublisher publisher(long epoch) {
        return started(new EventPublisher(settings(), epoch, this::now, backlogs::add));
    }

    private static OpenFault fault(int code) {
        return OpenFaults.restored(TestGpus.POLICY, List.of(), TestGpus.second(0))
                .observe(TestGpus.xid(0, code, FaultOrigin.NVML_EVENT), TestGpus.SUBJECT, TestGpus.second(0))
                .fault();
    }

    private void publish(EventPublisher publisher, int code) {
        publisher.publish(new NodeFact.FaultObserved(fault(code), List.of()), now());
    }

    /** Retries, since {@code drain} returns at once while there is no connection. */
    private static void awaitSent(EventPublisher publisher) {
        await().atMost(Duration.ofSeconds(20)).until(() -> publisher.drain(Duration.ofSeconds(1)));
    }

    private List<EventReader.ReadEvent> read() {
        try (var reader =
                EventReader.ofNode(broker.bootstrap(), new Codec("c1", new Topics(Topics.DEFAULT_PREFIX)), node)) {
            return reader.read();
        }
    }

    @Test
    void factIsPublishedAsInTheContract() throws InterruptedException {
        try (EventPublisher publisher = publisher(7)) {
            publish(publisher, 79);
            awaitSent(publisher);
        }

        assertThat(read()).singleElement().satisfies(read -> {
            Envelope envelope = read.event().envelope();
            assertThat(envelope.id()).isEqualTo(new EventId(node, 7, Topic.HEALTH, 1));
            assertThat(envelope.source()).isEqualTo(new EventSource.Node("c1", node));
            assertThat(envelope.type()).isEqualTo(EventType.FAULT_OBSERVED);
            assertThat(envelope.subject()).isEqualTo(TestGpus.uuid(0));
            assertThat(envelope.traceparent()).isEqualTo(TraceParent.of(envelope.id()));
            assertThat(read.json()).contains("\"xid\":79", "\"bootId\":\"boot-1\"", "\"withdraws\":true");
        });
    }

    @Test
    void factsOfAnOutageArriveInOrderWithTheirAge() throws InterruptedException {
        try (EventPublisher publisher = publisher(7)) {
            publish(publisher, 1);
            awaitSent(publisher);

            // Given a broker that is down while faults are observed
            broker.kill();
            for (int code = 2; code <= 20; code++) {
                publish(publisher, code);
            }
            // The previous producer may still send until it is closed; then the next one is created.
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> publisher.status().attempts() == 2);

            // When it is back after a quarter of an hour of the daemon's clock
            ahead.addAndGet(QUARTER_HOUR.toNanos());
            broker.restart();
            await().atMost(Duration.ofSeconds(60)).until(() -> !backlogs.isEmpty());
            publish(publisher, 21);
            awaitSent(publisher);
        }

        // Then every fact is there, in order, with its age at the send
        List<EventReader.ReadEvent> facts = distinct(read());
        assertThat(facts)
                .extracting(read -> read.event().envelope().id().sequence())
                .containsExactlyElementsOf(
                        java.util.stream.LongStream.rangeClosed(1, 21).boxed().toList());
        for (EventReader.ReadEvent read : facts) {
            long age = read.event().envelope().ageMillis();
            long sequence = read.event().envelope().id().sequence();
            if (sequence == 1 || sequence == 21) {
                assertThat(age).isLessThan(QUARTER_HOUR.toMillis());
            } else {
                assertThat(age)
                        .as(read.event().envelope() + ", appended at "
                                + read.event().appendedAt())
                        .isGreaterThanOrEqualTo(QUARTER_HOUR.toMillis());
                assertThat(Duration.between(
                                read.event().envelope().time(),
                                read.event().envelope().recordedTime()))
                        .isGreaterThanOrEqualTo(QUARTER_HOUR);
            }
        }
        assertThat(backlogs).containsExactly(false);
    }

    /** Removes duplicates like a consumer: an event that was sent twice has one id and is never out of order. */
    private static List<EventReader.ReadEvent> distinct(List<EventReader.ReadEvent> reads) {
        Map<String, EventReader.ReadEvent> byId = new java.util.LinkedHashMap<>();
        reads.forEach(read -> {
            var before = byId.putIfAbsent(read.id(), read);
            if (before != null) {
                assertThat(read.json()).isEqualTo(before.json());
            }
        });
        return List.copyOf(byId.values());
    }

    @Test
    void eventsOfAnEarlierStartAreSentFirstAndAgeByTheWallClock() throws InterruptedException {
        // Given a daemon that never reached a broker
        var unreachable =
                new KafkaSettings(KafkaClients.plain("127.0.0.1:1"), "c1", "gpu.", node, "boot-1", directory, 1 << 20);
        try (EventPublisher offline = started(new EventPublisher(unreachable, 7, this::now, backlogs::add))) {
            publish(offline, 1);
            await().until(() -> offline.status().outboxBytes() > 0);
        }

        // When the next one does, an hour later
        ahead.addAndGet(Duration.ofHours(1).toNanos());
        try (EventPublisher next = publisher(8)) {
            publish(next, 2);
            awaitSent(next);
            await().until(() -> !backlogs.isEmpty());
        }

        // Then the events of both are there, each with its epoch
        List<EventReader.ReadEvent> reads = read();
        assertThat(reads)
                .extracting(EventReader.ReadEvent::id)
                .containsExactly(node + "/7/health/1", node + "/8/health/1");
        assertThat(reads.getFirst().event().envelope().ageMillis())
                .isGreaterThanOrEqualTo(Duration.ofHours(1).toMillis());
    }

    @Test
    void fullOutboxReportsWhatItLost() throws InterruptedException {
        var small = new KafkaSettings(
                KafkaClients.plain("127.0.0.1:1"), "c1", "gpu.", node, "boot-1", directory, 64 * 1024);
        try (EventPublisher offline = started(new EventPublisher(small, 7, this::now, backlogs::add))) {
            for (int code = 1; code <= 1000; code++) {
                publish(offline, code);
            }
            await().until(() -> offline.status().lost() > 0);
        }

        try (EventPublisher next = publisher(8)) {
            awaitSent(next);
        }

        assertThat(read())
                .extracting(read -> read.event().envelope().type())
                .contains(EventType.EVENTS_LOST, EventType.FAULT_OBSERVED);
    }

    private List<DoctorFinding> examined(String bootstrap, String prefix) {
        return new BrokerCheck(KafkaClients.plain(bootstrap), prefix, node).examine();
    }

    @Test
    void brokerCheckFindsTheBrokerItsTopicsAndTheClock() throws InterruptedException {
        assertThat(examined(broker.bootstrap(), "gpu.").getLast().found()).startsWith("not compared");
        try (EventPublisher publisher = publisher(7)) {
            publisher.publish(new NodeFact.Sampled(List.of(), Map.of()), now());
            awaitSent(publisher);
        }

        assertThat(examined(broker.bootstrap(), "gpu."))
                .extracting(finding -> finding.subject() + " " + finding.status())
                .containsExactly("Kafka OK", "topics OK", "clock OK");
        assertThat(examined(broker.bootstrap(), "gpu.").getLast().found()).contains("ms behind the broker's");
        assertThat(examined(broker.bootstrap(), "other.").getLast().found()).startsWith("other.health is missing");
        assertThat(examined("127.0.0.1:1", "gpu."))
                .singleElement()
                .satisfies(finding -> assertThat(finding.status()).isEqualTo(DoctorFinding.Status.FAIL));
    }

    private void sendVerdict(String key, long revision, String untrusted) throws Exception {
        var codec = new Codec("c1", TOPICS);
        try (var producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrap()), new StringSerializer(), new ByteArraySerializer())) {
            if (revision == 0) {
                producer.send(codec.tombstone(Topic.VERDICTS, key)).get();
                return;
            }
            var verdict = NodeVerdict.newBuilder()
                    .setRevision(revision)
                    .setBootId("boot-1")
                    .setTrusted(true)
                    .addDevices(DeviceVerdict.newBuilder()
                            .setDeviceUuid(untrusted)
                            .setReason("Xid79")
                            .setTrusted(false))
                    .build();
            var envelope = new Envelope(
                    new EventId("health-service-0", 1, Topic.VERDICTS, revision),
                    new EventSource.Service("c1", "health-service-0"),
                    EventType.VERDICT_REACHED,
                    "",
                    key,
                    new EventTime(Instant.now(), Instant.now(), 0),
                    "");
            producer.send(codec.encode(envelope, verdict)).get();
        } catch (ExecutionException refused) {
            throw new AssertionError(refused);
        }
    }

    @Test
    void verdictsAreConsumedStoredAndRemoved() throws Exception {
        BlockingQueue<Overlay> overlays = new LinkedBlockingQueue<>();
        sendVerdict(node, 1, "GPU-a");
        try (var verdicts = new VerdictConsumer(settings(), overlays::add)) {
            verdicts.start();
            await().until(() -> overlays.peek() != null);
            assertThat(overlays.take().untrustedReason("GPU-a")).isEqualTo("Xid79");
            await().until(verdicts::caughtUp);
            sendVerdict(node, 2, "GPU-b");
            await().until(() -> overlays.peek() != null);
            assertThat(overlays.take().untrusted()).containsOnlyKeys("GPU-b");
        }

        // A start without Kafka applies the saved verdict
        var away =
                new KafkaSettings(KafkaClients.plain("127.0.0.1:1"), "c1", "gpu.", node, "boot-1", directory, 1 << 20);
        try (var offline = new VerdictConsumer(away, overlays::add)) {
            assertThat(offline.storedOverlay().untrusted()).containsOnlyKeys("GPU-b");
        }

        // Without a verdict in the partition every device is trusted once it is read to its end
        sendVerdict(node, 0, "");
        try (var verdicts = new VerdictConsumer(settings(), overlays::add)) {
            verdicts.start();
            await().until(() -> overlays.peek() != null);
            assertThat(overlays.take().untrusted()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("defects")
    void verdictWhoseApplicationFailsIsAppliedLaterAndThoseAfterItToo(Supplier<Throwable> defect) throws Exception {
        // Given a defect that meets the first verdict
        BlockingQueue<Overlay> overlays = new LinkedBlockingQueue<>();
        var failed = new AtomicBoolean();
        sendVerdict(node, 1, "GPU-a");
        try (var verdicts = new VerdictConsumer(settings(), overlay -> {
            if (failed.compareAndSet(false, true)) {
                switch (defect.get()) {
                    case Error error -> throw error;
                    case Throwable exception -> throw new IllegalStateException(exception);
                }
            }
            overlays.add(overlay);
        })) {
            verdicts.start();

            // Then it is applied at the next try
            await().until(() -> overlays.peek() != null);
            assertThat(overlays.take().untrusted()).containsOnlyKeys("GPU-a");

            // And so is one that comes later
            sendVerdict(node, 2, "GPU-b");
            await().until(() -> overlays.peek() != null);
            assertThat(overlays.take().untrusted()).containsOnlyKeys("GPU-b");
        }
    }

    static List<Supplier<Throwable>> defects() {
        return List.of(() -> new IllegalStateException("a defect"), () -> new NoClassDefFoundError("a/Missing"));
    }

    @Test
    void verdictsOfOtherNodesInThePartitionAreIgnored() throws Exception {
        // Given another node with verdicts in the same partition
        String other = java.util.stream.IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "other-" + i)
                .filter(name -> Topics.partition(Topic.VERDICTS, name) == Topics.partition(Topic.VERDICTS, node))
                .findFirst()
                .orElseThrow();
        BlockingQueue<Overlay> overlays = new LinkedBlockingQueue<>();
        try (var verdicts = new VerdictConsumer(settings(), overlays::add)) {
            verdicts.start();
            await().until(verdicts::caughtUp);

            sendVerdict(other, 1, "GPU-x");
            sendVerdict(node, 1, "GPU-a");

            await().until(() -> overlays.peek() != null);
            assertThat(overlays.take().untrusted()).containsOnlyKeys("GPU-a");
            assertThat(overlays).isEmpty();
        }
    }
}
