package io.gpufleet.runtime.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.record.InputDecoder.Input;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class InputDecoderTest {
    private final InputDecoder decoder = new InputDecoder(new Codec("c1", new Topics("gpu.")), Set.of(Topic.TELEMETRY));

    private static ConsumerRecord<byte[], byte[]> garbage(String topic, int offset) {
        return new ConsumerRecord<>(topic, 0, offset, "n1".getBytes(UTF_8), "no JSON".getBytes(UTF_8));
    }

    @Test
    void recordsOfALargeBatchKeepTheirOrder() {
        // Given
        List<ConsumerRecord<byte[], byte[]>> records = IntStream.range(0, 5_000)
                .mapToObj(offset -> garbage("gpu.health", offset))
                .toList();

        // When
        List<Input> inputs = decoder.decode(records);

        // Then
        assertThat(inputs).extracting(Input::source).containsExactlyElementsOf(records);
        assertThat(inputs)
                .allSatisfy(input -> assertThat(input)
                        .isInstanceOfSatisfying(
                                Input.Decoded.class,
                                decoded -> assertThat(decoded.content()).isInstanceOf(DecodedRecord.Poison.class)));
    }

    @Test
    void heartbeatIsNotDecoded() {
        assertThat(decoder.decode(List.of(garbage("gpu.telemetry", 0))))
                .singleElement()
                .isInstanceOf(Input.Undecoded.class);
    }
}
