package io.gpufleet.health.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.testbed.testkit.LogLines;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Announcements whose {@code gpusKnownSince} no sound daemon writes, from the bytes of the record on. */
class UnreadableAnnouncementTest {
    private static final String NODE = "node-1";

    private final Codec codec = new Codec("c1", new Topics(Topics.DEFAULT_PREFIX));
    private final ProjectedNodes nodes = new ProjectedNodes(
            new HealthProjection(
                    new HealthMachine(PolicyFile.load("nvidia"), Duration.ofMinutes(10)), DisruptionBudgets.NONE),
            NodeScenario.START);

    private DecodedRecord announced(String gpusKnownSince) {
        var envelope = new Envelope(
                new EventId(NODE, 1_000, Topic.INVENTORY, 1),
                new EventSource.Node("c1", NODE),
                EventType.NODE_ANNOUNCED,
                "",
                NODE,
                new EventTime(nodes.now(), nodes.now(), 0),
                "");
        var sound = codec.encode(envelope, NodeAnnounced.getDefaultInstance());
        String json =
                "{\"bootId\":\"boot-1\",\"gpus\":[{\"uuid\":\"gpu-0\"}],\"gpusKnownSince\":" + gpusKnownSince + "}";
        return codec.decode(new ConsumerRecord<>(
                sound.topic(),
                0,
                0,
                nodes.now().toEpochMilli(),
                TimestampType.LOG_APPEND_TIME,
                0,
                0,
                NODE,
                json.getBytes(UTF_8),
                sound.headers(),
                Optional.empty()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"soon\"",
                "\"\"",
                "\"+12345-01-01T00:00:00Z\"",
                "\"0000-01-01T00:00:00Z\"",
                "-1",
                "{\"seconds\":1}",
                "[]",
                "true"
            })
    void timeThatIsNoneIsADeadLetterWithOneLine(String gpusKnownSince) {
        assertThat(announced(gpusKnownSince))
                .isInstanceOfSatisfying(
                        DecodedRecord.Poison.class,
                        poison -> assertThat(poison.reason().lines())
                                .singleElement()
                                .asString()
                                .isNotBlank());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "\"0001-01-01T00:00:00Z\"",
                "\"1969-12-31T23:59:59.999999999Z\"",
                "\"9999-12-31T23:59:59.999999999Z\""
            })
    void timeOfAnyYearIsAppliedAndTakesNothingOutOfService(String gpusKnownSince) {
        try (var lines = LogLines.of(FactWarnings.class.getName())) {
            var event = (DecodedRecord.Event) announced(gpusKnownSince);

            nodes.event(new Inbound.Event(event.envelope(), event.payload(), event.appendedAt(), false));

            assertThat(nodes.get(NODE).orElseThrow().devices()).containsOnlyKeys("gpu-0");
            assertThat(nodes.get(NODE).orElseThrow().tainted()).isFalse();
            assertThat(lines.all()).hasSize(gpusKnownSince.startsWith("\"9999") ? 1 : 0);
        }
    }
}
