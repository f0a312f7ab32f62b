package io.gpufleet.compose.bus;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.wire.Decoded;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventLineTest {
    private final EventLine line = new EventLine(ZoneOffset.UTC);

    @Test
    void payloadIsFlattenedByPath() throws JsonProcessingException {
        // Given
        var json = new ObjectMapper().readTree("""
                {"node":"n","list":[1,2],"devices":[{"uuid":"a"},{"uuid":"b"}],"deep":{"text":"two words"}}""");
        List<String> words = new ArrayList<>();
        // When
        EventLine.flatten("", json, words);
        // Then
        assertThat(words)
                .containsExactly(
                        "node=n", "list=[1,2]", "devices[0].uuid=a", "devices[1].uuid=b", "deep.text='two words'");
    }

    @Test
    void tombstoneAndPoisonAreShownAsSuch() {
        assertThat(line.of("verdicts", new Decoded.Tombstone("n", Instant.parse("2026-01-01T01:02:03.004Z"))))
                .startsWith("01:02:03.004  verdicts")
                .endsWith("(given up)");
        assertThat(line.of("health", new Decoded.Poison("no key"))).contains("unreadable: no key");
    }

    @Test
    void deadLetterPrintsWhatCanBePrinted() {
        assertThat(DeadLetterLine.text("a\u0000b".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo("a·b");
        assertThat(DeadLetterLine.text("x".repeat(500).getBytes(StandardCharsets.UTF_8)))
                .endsWith("(500 bytes)");
    }
}
