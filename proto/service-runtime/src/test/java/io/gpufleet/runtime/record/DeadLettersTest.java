package io.gpufleet.runtime.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@NullMarked
class DeadLettersTest {
    @Test
    void deadLetterCarriesTheRecordAndWhereItWasFound() {
        // Given
        byte[] key = {(byte) 0xff, 0};
        byte[] value = {1, 2, 3};
        var headers = new RecordHeaders().add("ce_type", "unknown".getBytes(UTF_8));
        var found = new ConsumerRecord<>(
                "gpu.health",
                7,
                42,
                1_795_302_000_000L,
                TimestampType.LOG_APPEND_TIME,
                key.length,
                value.length,
                key,
                value,
                headers,
                Optional.empty());

        // When
        var letter = new DeadLetters("gpu.deadletter", "health-service").of(found, "ce_type is unknown");

        // Then
        assertThat(letter.topic()).isEqualTo("gpu.deadletter");
        assertThat(letter.key()).isEqualTo(key);
        assertThat(letter.value()).isEqualTo(value);
        assertThat(letter.headers())
                .extracting(header -> header.key() + ": " + new String(header.value(), UTF_8))
                .containsExactly(
                        "ce_type: unknown",
                        "dlq.reason: ce_type is unknown",
                        "dlq.topic: gpu.health",
                        "dlq.partition: 7",
                        "dlq.offset: 42",
                        "dlq.timestamp: 1795302000000",
                        "dlq.consumer: health-service");
    }

    @Test
    void reasonThatQuotesTheRecordIsOneLine() {
        var found = new ConsumerRecord<>("gpu.health", 7, 42, new byte[0], new byte[0]);

        var letter = new DeadLetters("gpu.deadletter", "health-service")
                .of(found, "ce_id 'a\n2026-11-20 ERROR all is lost\r\u2028\u202e\u001b[2J' is none");

        assertThat(letter.headers().lastHeader("dlq.reason").value())
                .asString(UTF_8)
                .isEqualTo("ce_id 'a?2026-11-20 ERROR all is lost????[2J' is none");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "é", "€", "𝄞"})
    void reasonHasAtMostOneKibibyteOfWholeCharacters(String character) {
        var found = new ConsumerRecord<>("gpu.health", 7, 42, new byte[0], new byte[0]);

        var letter = new DeadLetters("gpu.deadletter", "health-service").of(found, "x" + character.repeat(2_000));

        byte[] reason = letter.headers().lastHeader("dlq.reason").value();
        assertThat(reason).hasSizeBetween(1021, 1024);
        assertThat(new String(reason, UTF_8)).matches("x(" + character + ")+");
    }
}
