package io.gpufleet.cli.bus;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class EventFormatterTest {
    private static final Instant NOW = Instant.parse("2026-01-01T01:02:03.004Z");

    private final EventFormatter line = new EventFormatter(ZoneOffset.UTC);

    @Test
    void payloadIsFlattenedByPath() throws JsonProcessingException {
        // Given
        var json = new ObjectMapper().readTree("""
            {"node":"n","list":[1,2],"devices":[{"uuid":"a"},{"uuid":"b"}],"deep":{"text":"two words"}}\
            """);
        List<String> words = new ArrayList<>();
        // When
        line.flatten("", json, words);
        // Then
        assertThat(words)
                .containsExactly(
                        "node=n", "list=[1,2]", "devices[0].uuid=a", "devices[1].uuid=b", "deep.text='two words'");
    }

    @Test
    void longValuesAreCutUnlessAllIsWanted() throws JsonProcessingException {
        // Given
        var json = new ObjectMapper().readTree("{\"message\":\"" + "x".repeat(500) + "\"}");
        List<String> cut = new ArrayList<>();
        List<String> whole = new ArrayList<>();
        // When
        line.flatten("", json, cut);
        EventFormatter.full(ZoneOffset.UTC).flatten("", json, whole);
        // Then
        assertThat(cut).containsExactly("message=" + "x".repeat(80) + "…");
        assertThat(whole).containsExactly("message=" + "x".repeat(500));
    }

    @Test
    void longLineIsCutBetweenFields() {
        // Given
        var decision = DecisionTaken.newBuilder()
                .setDeviceUuid("GPU-1")
                .setRule("r".repeat(70))
                .setReason("x".repeat(70))
                .setAction("a".repeat(70));
        for (int i = 0; i < 9; i++) {
            decision.addEvidence("node-1/1795635750934/health/12");
        }
        var event = new DecodedRecord.Event(
                new Envelope(
                        new EventId("health-service-0", 1, Topic.DECISIONS, 1),
                        new EventSource.Service("test", "health-service-0"),
                        EventType.DECISION_TAKEN,
                        "GPU-1",
                        "node-1",
                        new EventTime(NOW, NOW, 0),
                        ""),
                decision.build(),
                NOW);
        // When
        String whole = EventFormatter.full(ZoneOffset.UTC).format("decisions", event);
        String cut = line.format("decisions", event);
        // Then
        assertThat(cut).hasSizeLessThan(whole.length()).endsWith(" …");
        assertThat(whole.split(" ")).contains(cut.split(" (?=…$)")[0].split(" "));
        assertThat(cut).containsOnlyOnce("GPU-1").contains("device=GPU-1");
        assertThat(whole).contains("device=GPU-1").contains("deviceUuid=GPU-1");
    }

    @Test
    void jsonLineHasAttributesAndWholeData() throws JsonProcessingException {
        // Given
        var rec = new ConsumerRecord<>(
                "gpu.health",
                3,
                7,
                "node-1",
                ("{\"xid\":79,\"message\":\"" + "x".repeat(500) + "\"}").getBytes(StandardCharsets.UTF_8));
        rec.headers().add("ce_type", "io.gpufleet.fault.observed.v1".getBytes(StandardCharsets.UTF_8));
        // When
        var json = new ObjectMapper().readTree(EventJsonFormatter.format(rec));
        // Then
        assertThat(json.at("/topic").asText()).isEqualTo("gpu.health");
        assertThat(json.at("/offset").asLong()).isEqualTo(7);
        assertThat(json.at("/type").asText()).isEqualTo("io.gpufleet.fault.observed.v1");
        assertThat(json.at("/data/xid").asInt()).isEqualTo(79);
        assertThat(json.at("/data/message").asText()).hasSize(500);
        assertThat(EventJsonFormatter.format(new ConsumerRecord<>("gpu.verdicts", 0, 1, "n", null)))
                .endsWith("\"data\":null}");
    }

    @Test
    void tombstoneAndUnreadableRecordAreLabelled() {
        assertThat(line.format("verdicts", new DecodedRecord.Tombstone("n", Instant.parse("2026-01-01T01:02:03.004Z"))))
                .startsWith("01:02:03.004  verdicts")
                .endsWith("(given up)");
        assertThat(line.format("health", new DecodedRecord.Poison("no key"))).contains("unreadable: no key");
    }

    @Test
    void deadLetterIsPrintedWithoutControlCharacters() {
        assertThat(DeadLetterFormatter.text("a\u0000b".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo("a·b");
        assertThat(DeadLetterFormatter.text("x".repeat(500).getBytes(StandardCharsets.UTF_8)))
                .endsWith("(500 bytes)");
    }
}
