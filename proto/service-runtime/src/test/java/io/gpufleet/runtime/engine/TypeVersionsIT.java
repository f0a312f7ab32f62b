package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An incompatible change of a type: a writer publishes {@code .v1} and {@code .v2}, a reader takes the one it knows. */
@NullMarked
class TypeVersionsIT {
    private static final String V1 = EventType.FAULT_OBSERVED.ceType();
    private static final String V2 = "io.gpufleet.fault.observed.v2";

    private final TestBus bus = TestBus.withNewPrefix();
    private final CountingProjection projection = new CountingProjection();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(40));
    }

    @Test
    void readerOfTheOldReleaseFoldsV1AndSkipsV2() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // When
            sendBothVersions(node, "GPU-1");
            sendBothVersions(node, "GPU-2");

            // Then
            await().until(() ->
                    engine.counters().get("events") == 2 && engine.counters().get("unknown_types") == 2);
            assertThat(projection.applied)
                    .extracting(Inbound.Event::eventId)
                    .containsExactly("n1/1000/health/1", "n1/1000/health/3");
            assertThat(engine.counters().get("missed")).isZero();
            assertThat(bus.read(Topic.DEADLETTER, true)).isEmpty();
        }
    }

    @Test
    void readerOfTheNewReleaseTakesV2AndSkipsV1() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = startNewRelease()) {
            // When
            sendBothVersions(node, "GPU-1");
            sendBothVersions(node, "GPU-2");

            // Then
            await().until(() ->
                    engine.counters().get("events") == 2 && engine.counters().get("unknown_types") == 2);
            assertThat(projection.applied)
                    .extracting(Inbound.Event::eventId)
                    .containsExactly("n1/1000/health/2", "n1/1000/health/4");
            assertThat(engine.counters().get("missed")).isZero();
            assertThat(bus.read(Topic.DEADLETTER, true)).isEmpty();
        }
    }

    @Test
    void skippedEventOfARebootedNodeRevealsNoGap() {
        try (var before = new NodeEventProducer(bus, "n1", 1000, "b1");
                var after = new NodeEventProducer(bus, "n1", 2000, "b2");
                var engine = bus.start("health-service-0", projection)) {
            // When
            before.send(before.fault("GPU-1", 79, ""));
            after.send(ofType(V2, after.fault("GPU-1", 79, "")));
            after.send(after.fault("GPU-1", 79, ""));

            // Then
            await().until(() -> engine.counters().get("events") == 2);
            assertThat(engine.counters().get("unknown_types")).isEqualTo(1);
            assertThat(engine.counters().get("missed")).isZero();
        }
    }

    @Test
    void skippedEventThatIsSentAgainIsADuplicate() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // When
            var rec = ofType(V2, node.fault("GPU-1", 79, ""));
            node.send(rec);
            node.send(rec);

            // Then
            await().until(() -> engine.counters().get("duplicates") == 1);
            assertThat(engine.counters().get("unknown_types")).isEqualTo(1);
        }
    }

    @Test
    void skippedEventRevealsNoGapAfterARestart() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1")) {
            // Given
            try (var engine = bus.start("health-service-0", projection)) {
                node.send(node.fault("GPU-1", 79, ""));
                await().until(() -> engine.counters().get("events") == 1);
                node.send(ofType(V2, node.fault("GPU-1", 79, "")));
                await().until(() -> engine.counters().get("unknown_types") == 1);
            }
            // When
            try (var engine = bus.start("health-service-0", projection)) {
                node.send(node.fault("GPU-2", 79, ""));
                await().until(() -> engine.counters().get("events") == 1);

                // Then
                assertThat(engine.counters().get("missed")).isZero();
            }
        }
    }

    private static void sendBothVersions(NodeEventProducer node, String device) {
        node.send(node.fault(device, 79, ""));
        node.send(ofType(V2, node.fault(device, 79, "")));
    }

    private static ProducerRecord<String, byte[]> ofType(String type, ProducerRecord<String, byte[]> rec) {
        rec.headers().remove("ce_type").add("ce_type", type.getBytes(UTF_8));
        return rec;
    }

    /** A release whose catalogue has the second version in place of the first. */
    private ProjectionEngine<NodeHealthState> startNewRelease() {
        var codec = new Codec(TestBus.CLUSTER, bus.topics, TypeVersionsIT::ofNewRelease);
        return ProjectionEngine.start(
                new EngineConfig(
                        bus.settings("health-service-0"),
                        codec,
                        KafkaClients.plain(bus.broker.bootstrap()),
                        Clock.systemUTC()),
                projection,
                projection,
                StateListener.none(),
                _ -> {});
    }

    private static Optional<EventType> ofNewRelease(String ceType) {
        if (ceType.equals(V2)) {
            return Optional.of(EventType.FAULT_OBSERVED);
        }
        return ceType.equals(V1) ? Optional.empty() : EventType.byName(ceType);
    }
}
