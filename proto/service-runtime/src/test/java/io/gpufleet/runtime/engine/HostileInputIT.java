package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.wire.Topic;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whatever a broker takes stops no term, and harms no event of another node, now or after a restart. */
@NullMarked
class HostileInputIT {
    private static final int RECORDS = Integer.getInteger("gpufleet.hostile.records", 400);
    /** Printed where the test fails; the same seed makes the same records. */
    private static final long SEED = Long.getLong("gpufleet.hostile.seed", 9);

    private static final int EVERY = 20;

    private final TestBus bus = TestBus.withNewPrefix();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    @Test
    void randomRecordsAmongTrueEventsStopNothing() throws Exception {
        try (var node = new NodeEventProducer(bus, "true", 1000, "b1");
                var engine = bus.start("health-service-0", new CountingProjection())) {
            await().until(engine::active);

            // When
            int sent = write(node);

            // Then every true event is decided once, in the term that began
            await().alias("seed " + SEED).until(() -> trueEvents().size() >= sent);
            assertThat(trueEvents()).as("seed %d", SEED).hasSize(sent).doesNotHaveDuplicates();
            await().until(() -> engine.counters().get("lag") == 0);
            assertThat(engine.counters().get("terms")).as("seed %d", SEED).isEqualTo(1);
            assertThat(engine.counters().get("failed_terms")).isZero();
            assertThat(engine.counters().get("dead_letters")).isPositive();
            assertThat(engine.readinessFailures()).isEmpty();
            assertThat(bus.read(Topic.HEALTH_STATE, true))
                    .noneMatch(rec ->
                            rec.value() == null && new String(rec.key(), StandardCharsets.UTF_8).startsWith("@"));

            // And another replica reads the same states
            try (var standby = bus.start("health-service-1", new CountingProjection())) {
                await().until(() -> standby.role() == ReplicaRole.STANDBY);
                await().untilAsserted(() -> assertThat(ProjectionEngineIT.canonical(standby))
                        .isEqualTo(ProjectionEngineIT.canonical(engine)));
                assertThat(revision(standby)).isEqualTo(sent);
            }
        }
    }

    private static long revision(ProjectionEngine<NodeHealthState> engine) {
        return engine.states().get("true").orElseThrow().getVerdictRevision();
    }

    /** Number of true events among the hostile records. */
    private int write(NodeEventProducer node) throws Exception {
        var hostile = new HostileRecords(bus.codec, SEED);
        var config = new Properties();
        config.put("bootstrap.servers", bus.broker.bootstrap());
        config.put("max.request.size", "2097152");
        List<Future<RecordMetadata>> taken = new ArrayList<>();
        int sent = 0;
        try (var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < RECORDS; i++) {
                ProducerRecord<byte[], byte[]> rec = hostile.next();
                taken.add(producer.send(rec));
                if (i % EVERY == 0) {
                    node.send(node.fault("GPU-1", 79, ""));
                    sent++;
                }
            }
        }
        assertThat(taken.stream()
                        .filter(each -> each.state() == Future.State.SUCCESS)
                        .count())
                .as("records that the broker took")
                .isGreaterThan(RECORDS / 2);
        return sent;
    }

    private List<String> trueEvents() {
        return bus.decisionEvidence(true).stream()
                .filter(id -> id.startsWith("true/"))
                .toList();
    }
}
