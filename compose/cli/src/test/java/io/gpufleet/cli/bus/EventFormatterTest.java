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
        EventFormatter.flatten("", json, words);
        // Then
        assertThat(words)
                .containsExactly(
                        "node=n", "list=[1,2]", "devices[0].uuid=a", "devices[1].uuid=b", "deep.text='two words'");
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
