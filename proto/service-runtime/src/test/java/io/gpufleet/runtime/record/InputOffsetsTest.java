package io.gpufleet.runtime.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.Topics;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@NullMarked
class InputOffsetsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "health/0/7",
                "health/0/7 health/0/8 health/0/9",
                "health/0/7 health/1/3 health/0/8",
                "health/1/3 signals/1/4 signals/1/5 health/1/4",
                "health/0/0 health/1/0 signals/0/0 health/0/1"
            })
    void recordsOfABatchLeaveTheOffsetsOfReadingEachOfThem(String batch) {
        // Given
        List<ConsumerRecord<byte[], byte[]>> records = Stream.of(batch.split(" ", -1))
                .filter(text -> !text.isEmpty())
                .map(InputOffsetsTest::rec)
                .toList();
        var each = new InputOffsets(new Topics("gpu."));
        records.forEach(each::read);

        // When
        var together = new InputOffsets(new Topics("gpu."));
        together.read(records);

        // Then
        assertThat(together.changed()).isEqualTo(each.changed());
        assertThat(together.toMessage()).isEqualTo(each.toMessage());
    }

    private static ConsumerRecord<byte[], byte[]> rec(String text) {
        String[] parts = text.split("/", -1);
        return new ConsumerRecord<>(
                "gpu." + parts[0], Integer.parseInt(parts[1]), Long.parseLong(parts[2]), new byte[0], new byte[0]);
    }
}
