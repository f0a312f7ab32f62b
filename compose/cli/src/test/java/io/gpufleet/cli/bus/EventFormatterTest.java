package io.gpufleet.cli.bus;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.wire.DecodedRecord;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class EventFormatterTest {
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
