package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.health.app.ShadowPolicy;
import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.replay.Difference;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A shadow policy that follows the topics of a real broker. */
class ShadowFollowerIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private static Path dir;

    private static HealthMachine machine(String xid13) {
        String text = "policy: second\nextends: nvidia\nxids:\n  13: {class: " + xid13
                + ", recommendedAction: restart-app}\n";
        return new HealthMachine(PolicyFile.parse("test", text), Duration.ofMinutes(10));
    }

    private static void fault(TestBed bed, KafkaProducer<String, byte[]> producer, String node) {
        Instant now = Instant.now();
        var envelope = new Envelope(
                new EventId(node, 1_000, Topic.HEALTH, 1),
                new EventSource.Node(TestBed.CLUSTER, node),
                EventType.FAULT_OBSERVED,
                "",
                node,
                new EventTime(now, now, 0),
                "");
        var fault = FaultObserved.newBuilder()
                .setBootId("boot-1")
                .setFault(Fault.newBuilder()
                        .setDeviceUuid("gpu-of-" + node)
                        .setKind(FaultKind.FAULT_KIND_XID)
                        .setXid(13))
                .build();
        producer.send(bed.codec().encode(envelope, fault));
        producer.flush();
    }

    @Test
    void shadowPolicyIsToldWhatWasAndWhatComesAndBeginsAnewWhenItIsReplaced() throws Exception {
        var second = new AtomicReference<>(machine("withdraw"));
        HealthMachine inForce = new HealthMachine(PolicyFile.load("nvidia"), Duration.ofMinutes(10));
        var shadow = new ShadowPolicy(
                new ShadowPolicy.Sources(() -> inForce, second::get, () -> DisruptionBudgets.NONE, Map::of));
        var ready = new AtomicBoolean();
        try (TestBed bed = TestBed.start(dir);
                var producer = new KafkaProducer<String, byte[]>(
                        Map.of("bootstrap.servers", bed.broker().bootstrap()),
                        new StringSerializer(),
                        new ByteArraySerializer())) {
            // Given a fault before the start
            fault(bed, producer, "node-1");
            var reader = new HistoryReader(KafkaClients.plain(bed.broker().bootstrap()), bed.codec());
            try (var _ = ShadowFollower.start(reader, shadow, Clock.systemUTC(), ready::get)) {
                assertThat(shadow.snapshot(9).loaded()).isFalse();
                ready.set(true);
                await().atMost(TIMEOUT)
                        .untilAsserted(
                                () -> assertThat(shadow.snapshot(9).loaded()).isTrue());
                assertThat(shadow.snapshot(9).differences())
                        .extracting(Difference::node)
                        .contains("node-1");
                assertThat(shadow.onlyShadow()).isZero();

                // When another one follows
                fault(bed, producer, "node-2");

                // Then it is counted
                await().atMost(TIMEOUT)
                        .untilAsserted(
                                () -> assertThat(shadow.ofNode("node-2", 9)).isNotEmpty());
                assertThat(shadow.onlyShadow()).isPositive();

                // When the policy is replaced by one that decides as the other does
                second.set(new HealthMachine(PolicyFile.load("nvidia"), Duration.ofMinutes(10)));

                // Then both faults are compared again
                await().atMost(TIMEOUT)
                        .untilAsserted(() ->
                                assertThat(shadow.snapshot(9).differences()).isEmpty());
            }
        }
    }
}
