package io.gpufleet.wire.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The bytes of one event of each type never change: subscribers in other languages parse them. An addition to a message
 * adds to its file; any other change of a file is an incompatible one.
 */
@NullMarked
class GoldenRecordsTest {
    @BeforeAll
    static void write() throws IOException {
        if (Boolean.getBoolean("golden.write")) {
            GoldenRecords.write();
        }
    }

    @ParameterizedTest
    @EnumSource(EventType.class)
    void eventIsEncodedAsRecorded(EventType type) throws IOException {
        assertThat(GoldenRecords.text(GoldenRecords.encoded(type)))
                .as("after an addition run 'mvn -pl proto test -Dtest=GoldenRecordsTest -Dgolden.write=true' and "
                        + "commit " + GoldenRecords.file(type))
                .isEqualTo(Files.readString(GoldenRecords.file(type)));
    }

    @ParameterizedTest
    @EnumSource(EventType.class)
    void recordedEventIsDecodedWithEveryField(EventType type) throws IOException {
        DecodedRecord decoded = GoldenRecords.CODEC.decodeState(GoldenRecords.recorded(type));

        assertThat(decoded).isInstanceOfSatisfying(DecodedRecord.Event.class, event -> {
            assertThat(event.envelope()).isEqualTo(GoldenRecords.envelope(type));
            assertThat(event.payload()).isEqualTo(GoldenRecords.payload(type));
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = EventType.class,
            names = {"HEALTH_CHANGED", "HOLDINGS_CHANGED"})
    void stateThatAFormerReleaseWroteAsJsonIsStillReadWithEveryField(EventType type) throws IOException {
        ConsumerRecord<String, byte[]> json = GoldenRecords.recorded(type, GoldenRecords.fileOfJson(type));

        DecodedRecord decoded = GoldenRecords.CODEC.decodeState(json);

        assertThat(decoded).isInstanceOfSatisfying(DecodedRecord.Event.class, event -> {
            assertThat(event.envelope()).isEqualTo(GoldenRecords.envelope(type));
            assertThat(print(event.payload())).isEqualTo(new String(json.value(), UTF_8));
        });
    }

    private static String print(Message payload) {
        try {
            return JsonFormat.printer().omittingInsignificantWhitespace().print(payload);
        } catch (InvalidProtocolBufferException unprintable) {
            throw new IllegalArgumentException(unprintable);
        }
    }

    @Test
    void noFileIsLeftOfATypeThatIsGone() throws IOException {
        try (var files = Files.list(GoldenRecords.file(EventType.FAULT_OBSERVED).resolveSibling("."))) {
            assertThat(files.map(Path::getFileName))
                    .containsExactlyInAnyOrderElementsOf(Arrays.stream(EventType.values())
                            .map(GoldenRecords::file)
                            .map(Path::getFileName)
                            .toList());
        }
    }
}
