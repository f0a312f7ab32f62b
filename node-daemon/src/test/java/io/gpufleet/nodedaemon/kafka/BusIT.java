package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.compose.broker.BrokerProcess;
import io.gpufleet.nodedaemon.BusReader;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Finding;
import io.gpufleet.nodedaemon.model.HealthBook;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.OpenFault;
import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

class BusIT {
    private static final Duration QUARTER_HOUR = Duration.ofMinutes(15);
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);

    @TempDir
    static Path brokerDirectory;

    private static BrokerProcess broker;
    private static Vertx vertx;

    @TempDir
    Path directory;

    private final AtomicLong ahead = new AtomicLong();
    private final BlockingQueue<Boolean> backlogs = new LinkedBlockingQueue<>();
    private String node = "";

    @BeforeAll
    static void start() {
        broker = BrokerProcess.start(brokerDirectory);
        TopicAdmin.apply(broker.bootstrap(), TOPICS);
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        vertx.close();
        broker.close();
    }

    @BeforeEach
    void nodeOfItsOwn(TestInfo test) {
        node = "n-" + Integer.toHexString(test.getDisplayName().hashCode());
    }

    /** The daemon's clocks, which a test can set forward. */
    private Moment now() {
        return new Moment(Instant.now().plusNanos(ahead.get()), System.nanoTime() + ahead.get());
    }

    private BusSettings settings() {
        return new BusSettings(broker.bootstrap(), "c1", "gpu.", node, "boot-1", directory, 1 << 20);
    }

    private Bus bus(long epoch) {
        return new Bus(vertx, settings(), epoch, this::now, backlogs::add);
    }

    private static OpenFault fault(int code) {
        return HealthBook.inheriting(Some.POLICY, List.of(), Some.second(0))
                .observe(Some.xid(0, code, FaultOrigin.NVML_EVENT), Some.SUBJECT, Some.second(0))
                .fault();
    }

    private void publish(Bus bus, int code) {
        bus.publish(new Fact.FaultObserved(fault(code), List.of()), now());
    }

    /** A bus that has no connection says so at once; here one is on its way. */
    private static void awaitSent(Bus bus) {
        await().atMost(Duration.ofSeconds(20)).until(() -> bus.drain(Duration.ofSeconds(1)));
    }

    private List<BusReader.Read> read() {
        try (var reader = new BusReader(broker.bootstrap(), "c1", node)) {
            return reader.read();
        }
    }

    @Test
    void factIsOnTheBusAsTheContractSays() throws InterruptedException {
        try (Bus bus = bus(7)) {
            publish(bus, 79);
            awaitSent(bus);
        }

        assertThat(read()).singleElement().satisfies(read -> {
            Envelope envelope = read.event().envelope();
            assertThat(envelope.id()).isEqualTo(new EventId(node, 7, Topic.HEALTH, 1));
            assertThat(envelope.source()).isEqualTo(new Source.Node("c1", node));
            assertThat(envelope.type()).isEqualTo(EventType.FAULT_OBSERVED);
            assertThat(envelope.subject()).isEqualTo(Some.uuid(0));
            assertThat(read.json()).contains("\"xid\":79", "\"bootId\":\"boot-1\"", "\"withdraws\":true");
        });
    }

    @Test
    void factsOfAnOutageArriveInOrderWithTheirAge() throws InterruptedException {
        try (Bus bus = bus(7)) {
            publish(bus, 1);
            awaitSent(bus);

            // Given a broker that is gone while faults happen
            broker.kill();
            for (int code = 2; code <= 20; code++) {
                publish(bus, code);
            }
            // An old producer that is about to die may still send; it is dead when the next is begun.
            await().atMost(Duration.ofSeconds(60)).until(() -> bus.view().attempts() == 2);

            // When it comes back after a quarter of an hour of the daemon's clock
            ahead.addAndGet(QUARTER_HOUR.toNanos());
            broker.restart();
            await().atMost(Duration.ofSeconds(60)).until(() -> !backlogs.isEmpty());
            publish(bus, 21);
            awaitSent(bus);
        }

        // Then every fact is there, in order, as old as it was when it was sent
        List<BusReader.Read> facts = distinct(read());
        assertThat(facts)
                .extracting(read -> read.event().envelope().id().sequence())
                .containsExactlyElementsOf(
                        java.util.stream.LongStream.rangeClosed(1, 21).boxed().toList());
        for (BusReader.Read read : facts) {
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

    /** What was sent twice stands twice, under one id, never out of order: consumers drop what they know. */
    private static List<BusReader.Read> distinct(List<BusReader.Read> reads) {
        Map<String, BusReader.Read> byId = new java.util.LinkedHashMap<>();
        reads.forEach(read -> {
            var before = byId.putIfAbsent(read.id(), read);
            if (before != null) {
                assertThat(read.json()).isEqualTo(before.json());
            }
        });
        return List.copyOf(byId.values());
    }

    @Test
    void whatAnEarlierStartLeftIsSentFirstAndAgesByTheWallClock() throws InterruptedException {
        // Given a start that never reached a broker
        var nobody = new BusSettings("127.0.0.1:1", "c1", "gpu.", node, "boot-1", directory, 1 << 20);
        try (Bus lonely = new Bus(vertx, nobody, 7, this::now, backlogs::add)) {
            publish(lonely, 1);
            await().until(() -> lonely.view().outboxBytes() > 0);
        }

        // When the next start does, an hour later
        ahead.addAndGet(Duration.ofHours(1).toNanos());
        try (Bus next = bus(8)) {
            publish(next, 2);
            awaitSent(next);
            await().until(() -> !backlogs.isEmpty());
        }

        // Then both are there, each under its epoch
        List<BusReader.Read> reads = read();
        assertThat(reads).extracting(BusReader.Read::id).containsExactly(node + "/7/health/1", node + "/8/health/1");
        assertThat(reads.getFirst().event().envelope().ageMillis())
                .isGreaterThanOrEqualTo(Duration.ofHours(1).toMillis());
    }

    @Test
    void outboxThatIsFullTellsWhatItLost() throws InterruptedException {
        var small = new BusSettings("127.0.0.1:1", "c1", "gpu.", node, "boot-1", directory, 64 * 1024);
        try (Bus lonely = new Bus(vertx, small, 7, this::now, backlogs::add)) {
            for (int code = 1; code <= 1000; code++) {
                publish(lonely, code);
            }
            await().until(() -> lonely.view().lost() > 0);
        }

        try (Bus next = bus(8)) {
            awaitSent(next);
        }

        assertThat(read())
                .extracting(read -> read.event().envelope().type())
                .contains(EventType.EVENTS_LOST, EventType.FAULT_OBSERVED);
    }

    private List<Finding> examined(String bootstrap, String prefix) {
        return new BrokerCheck(bootstrap, prefix, node).examine();
    }

    @Test
    void examinationFindsTheBrokerItsTopicsAndTheClock() throws InterruptedException {
        assertThat(examined(broker.bootstrap(), "gpu.").getLast().found()).startsWith("not compared");
        try (Bus bus = bus(7)) {
            bus.publish(new Fact.Sampled(List.of(), Map.of()), now());
            awaitSent(bus);
        }

        assertThat(examined(broker.bootstrap(), "gpu."))
                .extracting(finding -> finding.subject() + " " + finding.grade())
                .containsExactly("Kafka OK", "topics OK", "clock OK");
        assertThat(examined(broker.bootstrap(), "gpu.").getLast().found()).contains("ms behind the broker's");
        assertThat(examined(broker.bootstrap(), "other.").getLast().found()).startsWith("other.health is missing");
        assertThat(examined("127.0.0.1:1", "gpu."))
                .singleElement()
                .satisfies(finding -> assertThat(finding.grade()).isEqualTo(Finding.Grade.FAIL));
    }

    private void sendVerdict(String key, long revision, String distrusted) throws Exception {
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
                            .setDeviceUuid(distrusted)
                            .setReason("Xid79")
                            .setTrusted(false))
                    .build();
            var envelope = new Envelope(
                    new EventId("health-service-0", 1, Topic.VERDICTS, revision),
                    new Source.Service("c1", "health-service-0"),
                    EventType.VERDICT_REACHED,
                    "",
                    key,
                    Instant.now(),
                    Instant.now(),
                    0,
                    "");
            producer.send(codec.encode(envelope, verdict)).get();
        } catch (ExecutionException refused) {
            throw new AssertionError(refused);
        }
    }

    @Test
    void verdictsAreFollowedKeptAndGivenUp() throws Exception {
        BlockingQueue<Overlay> overlays = new LinkedBlockingQueue<>();
        sendVerdict(node, 1, "GPU-a");
        try (var verdicts = new Verdicts(settings(), overlays::add)) {
            verdicts.start();
            await().until(() -> overlays.peek() != null);
            assertThat(overlays.take().objection("GPU-a")).isEqualTo("Xid79");
            await().until(verdicts::caughtUp);
            sendVerdict(node, 2, "GPU-b");
            await().until(() -> overlays.peek() != null);
            assertThat(overlays.take().distrusted()).containsOnlyKeys("GPU-b");
        }

        // A start without Kafka obeys what was kept
        var away = new BusSettings("127.0.0.1:1", "c1", "gpu.", node, "boot-1", directory, 1 << 20);
        try (var offline = new Verdicts(away, overlays::add)) {
            assertThat(offline.kept().distrusted()).containsOnlyKeys("GPU-b");
        }

        // A verdict that was given up meanwhile is trust once the partition is read to its end
        sendVerdict(node, 0, "");
        try (var verdicts = new Verdicts(settings(), overlays::add)) {
            verdicts.start();
            await().until(() -> overlays.peek() != null);
            assertThat(overlays.take().distrusted()).isEmpty();
        }
    }

    @Test
    void verdictsOfOtherNodesOfThePartitionAreLeftAlone() throws Exception {
        // Given another node whose verdicts stand in the same partition
        String other = java.util.stream.IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "other-" + i)
                .filter(name -> Topics.partition(Topic.VERDICTS, name) == Topics.partition(Topic.VERDICTS, node))
                .findFirst()
                .orElseThrow();
        BlockingQueue<Overlay> overlays = new LinkedBlockingQueue<>();
        try (var verdicts = new Verdicts(settings(), overlays::add)) {
            verdicts.start();
            await().until(verdicts::caughtUp);

            sendVerdict(other, 1, "GPU-x");
            sendVerdict(node, 1, "GPU-a");

            await().until(() -> overlays.peek() != null);
            assertThat(overlays.take().distrusted()).containsOnlyKeys("GPU-a");
            assertThat(overlays).isEmpty();
        }
    }
}
