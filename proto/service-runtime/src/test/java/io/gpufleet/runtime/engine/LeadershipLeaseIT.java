package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may act, and what ends it: a broker that is gone, topics that change, a clock that is wrong, a later schema. */
@NullMarked
class LeadershipLeaseIT {
    private final AtomicReference<Lease> lease = new AtomicReference<>(() -> false);
    private final CountingProjection projection = new CountingProjection() {
        @Override
        public void begin(Lease given, States<NodeHealthState> states) {
            super.begin(given, states);
            lease.set(given);
        }
    };

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    @Test
    void leaseEndsWhenTheBrokerIsGoneAndComesBackWithIt(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.start(dir)) {
            TestBus bus = TestBus.onBroker(broker);
            try (var engine = bus.start("health-service-0", projection)) {
                // Given an idle leader, which commits nothing but its own proof
                await().until(() -> engine.active() && lease.get().held());

                // When
                broker.kill();

                // Then acting is over though nobody said so, and readiness tells why
                await().until(() -> !lease.get().held() && !engine.active());
                await().until(() -> engine.readinessFailures().toString().contains("has not answered for"));
                assertThat(engine.counters().values().getFirst()).isZero();

                broker.restart();
                await().until(() ->
                        engine.active() && engine.readinessFailures().isEmpty());
            }
        }
    }

    @Test
    void idleLeaderKeepsItsLeaseByCommitting() {
        TestBus bus = TestBus.withNewPrefix();
        try (var engine = bus.start("health-service-0", projection)) {
            await().until(engine::active);
            long commits = engine.counters().get("commits");

            await().until(() -> engine.counters().get("commits") >= commits + 5);

            assertThat(engine.active()).isTrue();
            assertThat(engine.counters().get("terms")).isEqualTo(1);
        }
    }

    @Test
    void changelogOfALaterSchemaStopsTheStartWithOneLine() throws Exception {
        TestBus bus = TestBus.withNewPrefix();
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            node.send(node.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().get("events") == 1);
        }
        // Given a record that a later release wrote
        var state = bus.read(Topic.HEALTH_STATE, true).stream()
                .filter(rec -> new String(rec.key(), UTF_8).equals("n1"))
                .toList()
                .getLast();
        state.headers().remove(Changelog.VERSION_HEADER).add(Changelog.VERSION_HEADER, "2".getBytes(UTF_8));
        try (var producer = new KafkaProducer<>(config(bus), new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(state.topic(), null, state.key(), state.value(), state.headers()))
                    .get();
        }

        // When
        try (var older = bus.start("health-service-0", new CountingProjection())) {
            await().until(() -> older.failure().isPresent());

            // Then
            assertThat(older.failure().orElseThrow())
                    .contains("has schema version 2, this program reads up to 1")
                    .doesNotContain("\n");
        }
    }

    @Test
    void unknownEnumOfAStateIsRefusedInsteadOfReadAsItsDefault() throws Exception {
        TestBus bus = TestBus.withNewPrefix();
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            node.send(node.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().get("events") == 1);
        }
        var state = bus.read(Topic.HEALTH_STATE, true).stream()
                .filter(rec -> new String(rec.key(), UTF_8).equals("n1"))
                .toList()
                .getLast();
        byte[] later = NodeHealthState.parseFrom(state.value()).toBuilder()
                .setStateValue(99)
                .build()
                .toByteArray();
        try (var producer = new KafkaProducer<>(config(bus), new StringSerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(state.topic(), null, "n1", later, state.headers()))
                    .get();
        }

        try (var older = bus.start("health-service-0", new CountingProjection())) {
            await().until(() -> older.failure().isPresent());
            assertThat(older.failure().orElseThrow())
                    .contains("cannot be read")
                    .contains("state")
                    .contains("99");
        }
    }

    @Test
    void ageIsCorrectedByTheBrokersClock() {
        TestBus bus = TestBus.withNewPrefix();
        // Given a service whose clock is 11 minutes ahead
        Clock ahead = Clock.offset(Clock.systemUTC(), Duration.ofMinutes(11));
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection, ahead)) {
            await().until(engine::active);

            // When
            node.send(node.next(Topic.HEALTH, EventType.FAULT_OBSERVED, EventType.FAULT_OBSERVED.prototype(), 0));
            await().until(() -> engine.counters().get("events") == 1);

            // Then the event is new, and the clock is reported
            long age = Long.parseLong(bus.read(Topic.DECISIONS, true).stream()
                    .map(rec -> bus.event(rec).payload().toString().replaceAll("(?s).*age (\\d+).*", "$1"))
                    .findFirst()
                    .orElseThrow());
            assertThat(Duration.ofMillis(age)).isLessThan(Duration.ofMinutes(5));
            assertThat(engine.readinessFailures().toString()).contains("our clock differs from the broker's by");
            assertThat(engine.counters().get("clock_offset_milliseconds")).isCloseTo(-660_000L, within(10_000L));
        }
    }

    @Test
    void senderOfOneInstanceNeverGoesBack() {
        TestBus bus = TestBus.withNewPrefix();
        long first;
        try (var engine = bus.start("health-service-0", projection)) {
            first = engine.writerIncarnation().join();
            try (var sender = io.gpufleet.runtime.sender.EventSender.open(
                    io.gpufleet.wire.KafkaClients.plain(bus.broker.bootstrap()),
                    bus.codec,
                    new io.gpufleet.wire.EventSource.Service(TestBus.CLUSTER, "health-service-0"),
                    Topic.HEALTH_STATE,
                    engine.writerIncarnation(),
                    Clock.systemUTC())) {
                sender.send(io.gpufleet.runtime.projection.Outbound.Event.of(
                                Topic.SIGNALS,
                                EventType.COMMAND_ISSUED,
                                "n1",
                                EventType.COMMAND_ISSUED.prototype(),
                                Instant.now()))
                        .toCompletableFuture()
                        .join();
            }
        }
        // When it restarts on a slower clock
        Clock behind = Clock.offset(Clock.systemUTC(), Duration.ofMinutes(-30));
        try (var engine = bus.start("health-service-0", new CountingProjection(), behind)) {
            assertThat(engine.writerIncarnation().join()).isGreaterThan(first);
            await().until(() -> engine.role() == ReplicaRole.ACTIVE);
        }
    }

    private static Properties config(TestBus bus) {
        var config = new Properties();
        config.put("bootstrap.servers", bus.broker.bootstrap());
        return config;
    }
}
