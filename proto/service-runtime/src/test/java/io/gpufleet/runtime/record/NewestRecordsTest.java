package io.gpufleet.runtime.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

@NullMarked
class NewestRecordsTest {
    private final NewestRecords newest = new NewestRecords();

    @Test
    void recordReplacesTheOlderOneOfItsKeyAndItsSize() {
        newest.add(List.of(rec(0, "a", "12345"), rec(1, "b", "1")));
        newest.add(List.of(rec(2, "a", "12")));

        assertThat(newest.bytes()).isEqualTo(5);
        assertThat(newest.take()).extracting(ConsumerRecord::offset).containsExactlyInAnyOrder(1L, 2L);
    }

    @Test
    void tombstoneReplacesTheStateOfItsKey() {
        newest.add(List.of(rec(0, "a", "12345"), rec(1, "a", null)));

        assertThat(newest.take()).extracting(ConsumerRecord::offset).containsExactly(1L);
    }

    @Test
    void nothingIsLeftOfWhatWasTaken() {
        newest.add(List.of(rec(0, "a", "12345")));

        assertThat(newest.take()).hasSize(1);
        assertThat(newest.bytes()).isZero();
        assertThat(newest.take()).isEmpty();
    }

    private static ConsumerRecord<byte[], byte[]> rec(long offset, String key, @Nullable String value) {
        return new ConsumerRecord<>(
                "t",
                0,
                offset,
                0,
                TimestampType.LOG_APPEND_TIME,
                key.length(),
                value == null ? -1 : value.length(),
                key.getBytes(UTF_8),
                value == null ? null : value.getBytes(UTF_8),
                new RecordHeaders(),
                Optional.empty());
    }
}
