package io.gpufleet.testbed.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whoever may write to a topic may write anything: no record ends its reader. */
class ChangedRecordsTest {
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);

    /** Append time of the recorded events, in milliseconds. */
    private static final long APPENDED = 1_795_305_600_000L;

    private final Codec codec = new Codec("prod", TOPICS);

    /** The recorded event of a type: its headers, and its value. */
    private record Recorded(EventType type, Map<String, String> headers, byte[] value) {
        static Recorded of(EventType type) {
            String file = "/golden/" + type.ceType().replace("io.gpufleet.", "") + ".record";
            try (var text = Recorded.class.getResourceAsStream(file)) {
                List<String> lines =
                        new String(text.readAllBytes(), UTF_8).lines().toList();
                var headers = new LinkedHashMap<String, String>();
                lines.stream()
                        .takeWhile(line -> !line.isEmpty())
                        .map(line -> line.split(": ", 2))
                        .forEach(parts -> headers.put(parts[0], parts[1]));
                return new Recorded(type, headers, value(type, lines.getLast()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static byte[] value(EventType type, String line) {
            return switch (type.encoding()) {
                case JSON -> line.getBytes(UTF_8);
                case PROTOBUF -> Base64.getDecoder().decode(line);
            };
        }

        ConsumerRecord<String, byte[]> with(byte[] payload, String changedHeader, byte[] header) {
            var all = new RecordHeaders();
            headers.forEach((name, text) -> all.add(name, name.equals(changedHeader) ? header : text.getBytes(UTF_8)));
            return new ConsumerRecord<>(
                    Topics.DEFAULT_PREFIX + headers.getOrDefault("ce_id", "").split("/")[2],
                    0,
                    0,
                    APPENDED,
                    TimestampType.LOG_APPEND_TIME,
                    0,
                    payload.length,
                    headers.get("ce_partitionkey"),
                    payload,
                    all,
                    Optional.empty());
        }

        ConsumerRecord<String, byte[]> with(byte[] payload) {
            return with(payload, "", new byte[0]);
        }
    }

    @ParameterizedTest
    @EnumSource
    void changedPayloadIsAnEventOrPoison(EventType type) {
        Recorded recorded = Recorded.of(type);
        assertThat(codec.decode(recorded.with(recorded.value()))).isInstanceOf(DecodedRecord.Event.class);

        ParserFuzzer.checkBytes(1_000, List.of(recorded.value(), "{}".getBytes(UTF_8)), List.of(), payload -> {
            codec.decode(recorded.with(payload));
            codec.decodeState(recorded.with(payload));
        });
    }

    /** An event of a daemon, and one of a service that has every header. */
    @ParameterizedTest
    @EnumSource(names = {"FAULT_OBSERVED", "DECISION_TAKEN"})
    void changedHeadersAreAnEventOrPoison(EventType type) {
        Recorded recorded = Recorded.of(type);

        recorded.headers()
                .forEach((changed, header) -> ParserFuzzer.check(
                        1_000,
                        List.of(header),
                        List.of(),
                        text -> codec.decode(recorded.with(recorded.value(), changed, text))));
    }
}
