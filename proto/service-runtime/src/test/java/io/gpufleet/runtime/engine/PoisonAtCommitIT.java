package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.bus.v1.CommittedOffset;
import io.gpufleet.proto.bus.v1.CommittedOffsets;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No record stops a service: neither one that cannot be read nor one whose effects cannot be written. */
@NullMarked
class PoisonAtCommitIT {
    private final TestBus bus = TestBus.withNewPrefix();
    private final CountingProjection projection = new CountingProjection();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    @Test
    void timeBeyondTheYear9999IsDeadLettered() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // When
            var rec = node.announced();
            rec.headers().remove("ce_time").add("ce_time", "+12345-01-01T00:00:00Z".getBytes(UTF_8));
            node.send(rec);
            node.send(node.fault("GPU-1", 79, ""));

            // Then
            await().until(() ->
                    engine.counters().get("events") == 1 && engine.counters().get("dead_letters") == 1);
            assertThat(reasons()).singleElement().asString().contains("ce_time").contains("not between 1970 and 9999");
        }
    }

    @Test
    void traceOfManyBytesIsIgnoredByBothReplicasAndTheFaultsCount() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1")) {
            var active = bus.start("health-service-0", projection);
            await().until(() -> active.role() == ReplicaRole.ACTIVE);
            try (var standby = bus.start("health-service-1", new CountingProjection())) {
                await().until(() -> standby.role() == ReplicaRole.STANDBY);

                // When the active replica applies such a fault, and the standby that follows it the next one
                node.send(faultWithLongTrace(node, "GPU-1"));
                await().until(() ->
                        active.counters().get("events") == 1 && standby.states().size() == 1);
                active.close();
                await().until(() -> standby.role() == ReplicaRole.ACTIVE);
                node.send(faultWithLongTrace(node, "GPU-2"));

                // Then
                await().until(() -> standby.counters().get("events") == 1);
                assertThat(standby.counters().get("failed_terms")).isZero();
                assertThat(bus.read(Topic.DEADLETTER, true)).isEmpty();
                assertThat(bus.decisionEvidence(true)).containsExactly("n1/1000/health/1", "n1/1000/health/2");
            }
        }
    }

    private static ProducerRecord<String, byte[]> faultWithLongTrace(NodeEventProducer node, String gpu) {
        byte[] random = new byte[784_500];
        new Random(1).nextBytes(random);
        var rec = node.fault(gpu, 79, "");
        rec.headers().add("ce_traceparent", random);
        return rec;
    }

    @Test
    void inputWhoseOutputIsTooLargeGoesAloneAndChangesNothing() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var other = new NodeEventProducer(bus, "n2", 1000, "b1")) {
            // Given one batch with a culprit in its middle
            node.send(node.fault("GPU-1", 79, ""));
            node.send(node.fault("GPU-2", 79, CountingProjection.HUGE));
            node.send(node.fault("GPU-3", 79, ""));
            other.send(other.fault("GPU-4", 79, ""));

            // When
            try (var engine = bus.start("health-service-0", projection)) {
                await().until(() -> engine.counters().get("events") == 3);

                // Then
                assertThat(engine.counters().get("dead_letters")).isEqualTo(1);
                assertThat(engine.counters().get("failed_terms")).isZero();
                assertThat(engine.counters().get("missed")).isZero();
                assertThat(reasons()).singleElement().asString().contains("larger than its max.message.bytes");
                assertThat(bus.decisionEvidence(true))
                        .containsExactly("n1/1000/health/1", "n1/1000/health/3", "n2/1000/health/1");
                assertThat(engine.states().get("n1").orElseThrow().getVerdictRevision())
                        .isEqualTo(2);
            }
        }
    }

    @Test
    void offsetsNeverRunAheadOfTheInputsInTheirTransaction() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1")) {
            // Given one batch whose second input cannot be written
            node.send(node.fault("GPU-1", 79, ""));
            node.send(node.fault("GPU-2", 79, CountingProjection.HUGE));
            node.send(node.fault("GPU-3", 79, ""));

            // When
            try (var engine = bus.start("health-service-0", projection)) {
                await().until(() -> engine.counters().get("events") == 2);
            }

            // Then a crash between its transactions would read on where the last one ended
            assertThat(committedHealthOffsets()).startsWith(1L, 2L, 3L);
        }
    }

    /** Next offset of the one health partition with records, in each offsets record of the changelog. */
    private List<Long> committedHealthOffsets() {
        return bus.read(Topic.HEALTH_STATE, true).stream()
                .map(bus::event)
                .filter(event -> event.payload() instanceof CommittedOffsets)
                .flatMap(event -> ((CommittedOffsets) event.payload()).getOffsetsList().stream())
                .filter(offset -> offset.getTopic().equals(Topic.HEALTH.suffix()))
                .map(CommittedOffset::getNextOffset)
                .toList();
    }

    @Test
    void poisonThatIsLargerThanTheDeadLetterTopicIsCut() throws Exception {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // Given a broker that takes what we would not
            raiseLimit(Topic.HEALTH, 8 * 1024 * 1024);
            byte[] large = new byte[3 * 1024 * 1024];
            Arrays.fill(large, (byte) 'x');

            // When
            var record = new ProducerRecord<>(bus.topics.name(Topic.HEALTH), "n1".getBytes(UTF_8), large);
            await().ignoreExceptions().until(() -> sent(record));
            node.send(node.fault("GPU-1", 79, ""));

            // Then
            await().until(() -> engine.counters().get("events") == 1);
            assertThat(bus.read(Topic.DEADLETTER, true)).singleElement().satisfies(letter -> {
                assertThat(letter.value().length).isLessThan(2 * 1024 * 1024);
                assertThat(letter.headers().lastHeader("dlq.truncated")).isNotNull();
            });
        }
    }

    @Test
    void incarnationFarAheadIsRefusedAndTheNodeIsStillHeard() {
        try (var forged = new NodeEventProducer(bus, "n1", 4_102_444_800_000L, "b1");
                var node = new NodeEventProducer(bus, "n1", System.currentTimeMillis(), "b1");
                var engine = bus.start("health-service-0", projection)) {
            // When
            forged.send(forged.fault("GPU-1", 79, ""));
            node.send(node.fault("GPU-2", 79, ""));

            // Then
            await().until(() ->
                    engine.counters().get("events") == 1 && engine.counters().get("dead_letters") == 1);
            assertThat(reasons()).singleElement().asString().contains("more than a day ahead");
        }
    }

    @Test
    void nodeWhoseEveryEventIsStaleIsReported() {
        try (var ahead = new NodeEventProducer(bus, "n1", System.currentTimeMillis() + 3_600_000, "b1");
                var node = new NodeEventProducer(bus, "n1", System.currentTimeMillis(), "b1");
                var engine = bus.start("health-service-0", projection)) {
            // When
            ahead.send(ahead.fault("GPU-1", 79, ""));
            for (int i = 0; i < 20; i++) {
                node.send(node.fault("GPU-2", 79, ""));
            }

            // Then
            await().until(() -> engine.refusedAsStale("n1"));
            assertThat(engine.counters().get("stale_writers")).isEqualTo(1);
            assertThat(engine.refusedAsStale("n2")).isFalse();
        }
    }

    @Test
    void tickThatFailsHarmsItsKeyAlone() {
        try (var broken = new NodeEventProducer(bus, "n1", 1000, "b1");
                var node = new NodeEventProducer(bus, "n2", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // When
            broken.send(broken.fault("GPU-1", 79, CountingProjection.BROKEN_TICK));
            node.send(node.fault("GPU-2", 79, ""));

            // Then
            await().until(() -> projection.ticked.contains("n2")
                    && engine.counters().get("failed_ticks") == 1
                    && engine.readinessFailures().toString().contains("timers of 'n1' failed: tick of n1"));
            assertThat(engine.role()).isEqualTo(ReplicaRole.ACTIVE);
            assertThat(engine.counters().get("failed_terms")).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {CountingProjection.UNWRITABLE_TICK, CountingProjection.HUGE_TICK})
    void tickWhoseEffectsCannotBeWrittenHarmsItsKeyAlone(String poison) {
        try (var broken = new NodeEventProducer(bus, "n1", 1000, "b1");
                var node = new NodeEventProducer(bus, "n2", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // When
            broken.send(broken.fault("GPU-1", 79, poison));
            node.send(node.fault("GPU-2", 79, ""));

            // Then
            await().until(() -> projection.ticked.contains("n2")
                    && engine.counters().get("failed_ticks") == 1
                    && engine.readinessFailures().toString().contains("timers of 'n1' failed: "));
            assertThat(engine.role()).isEqualTo(ReplicaRole.ACTIVE);
            assertThat(engine.counters().get("failed_terms")).isZero();
            assertThat(engine.states().get("n1").orElseThrow().getNote()).isEmpty();

            // And its events still count
            broken.send(broken.fault("GPU-3", 79, ""));
            await().until(() -> engine.counters().get("events") == 3);
        }
    }

    private List<String> reasons() {
        return bus.read(Topic.DEADLETTER, true).stream()
                .map(letter ->
                        new String(letter.headers().lastHeader("dlq.reason").value(), UTF_8))
                .toList();
    }

    private void raiseLimit(Topic topic, int bytes) throws Exception {
        var config = new Properties();
        config.put("bootstrap.servers", bus.broker.bootstrap());
        try (var admin = Admin.create(config)) {
            var resource = new ConfigResource(ConfigResource.Type.TOPIC, bus.topics.name(topic));
            var limit = new ConfigEntry("max.message.bytes", Integer.toString(bytes));
            admin.incrementalAlterConfigs(Map.of(resource, List.of(new AlterConfigOp(limit, AlterConfigOp.OpType.SET))))
                    .all()
                    .get();
        }
    }

    private boolean sent(ProducerRecord<byte[], byte[]> rec) throws Exception {
        var config = new Properties();
        config.put("bootstrap.servers", bus.broker.bootstrap());
        config.put("max.request.size", "8388608");
        try (var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            return producer.send(rec).get().hasOffset();
        }
    }
}
