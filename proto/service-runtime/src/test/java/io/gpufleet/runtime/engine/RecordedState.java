package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.NullMarked;

/**
 * A state as the record of a changelog that a release wrote, in a file of a service: a line for each header, an empty line,
 * and the value in Base64.
 */
@NullMarked
public final class RecordedState<S> {
    private static final Instant TIME = Instant.parse("2026-11-22T10:15:30.123Z");
    private static final Codec CODEC = new Codec("prod", new Topics(Topics.DEFAULT_PREFIX));

    private final EngineParts<S> parts;
    private final String key;

    /** The state of one key; the record of each release is a file below {@code src/test/resources/changelog}. */
    public RecordedState(Projection<S> projection, String instance, String key) {
        var config = new EngineConfig(
                new ProjectionSettings("recorded", instance, "", ProjectionSettings.SESSION),
                CODEC,
                KafkaClients.plain("127.0.0.1:1"),
                Clock.systemUTC());
        this.parts = new EngineParts<>(config, projection, Actor.none(), StateListener.none());
        this.key = key;
    }

    /** Records a state as this release writes it; asked for by {@code -Dchangelog.write=true}, once for each release. */
    public void write(String release, S state) throws IOException {
        String instance = parts.settings().instance();
        Topic changelog = parts.spec().changelog();
        var envelope = new Envelope(
                new EventId(instance, TIME.toEpochMilli(), changelog, 12),
                new EventSource.Service(CODEC.cluster(), instance),
                parts.spec().stateType(),
                "",
                key,
                new EventTime(TIME, TIME, 0),
                "");
        var rec = CODEC.encode(envelope, parts.projection().write(key, state));
        var text = new StringBuilder();
        rec.headers()
                .forEach(header -> text.append(header.key())
                        .append(": ")
                        .append(new String(header.value(), UTF_8))
                        .append('\n'));
        text.append(Changelog.VERSION_HEADER)
                .append(": ")
                .append(parts.spec().schemaVersion())
                .append("\n\n")
                .append(Base64.getEncoder().encodeToString(rec.value()))
                .append('\n');
        Files.createDirectories(file(release).getParent());
        Files.writeString(file(release), text);
    }

    private static Path file(String release) {
        return Path.of("src/test/resources/changelog", release + ".record");
    }

    /** Restores it as the engine does, and asserts that the projection writes again all that it read. */
    public S restored(String release) throws IOException {
        ConsumerRecord<byte[], byte[]> rec = recorded(release);
        ChangelogDecoder.Entry<S> entry =
                new ChangelogDecoder<>(parts).decode(List.of(rec)).getFirst();
        if (!(entry instanceof ChangelogDecoder.Entry.State<S> restored)) {
            throw new AssertionError(file(release) + " is not restored: " + entry);
        }
        assertThat(restored.key()).isEqualTo(key);
        assertThat(parts.projection().write(key, restored.state())).isEqualTo(payload(rec));
        return restored.state();
    }

    private static Message payload(ConsumerRecord<byte[], byte[]> rec) {
        if (CODEC.decodeState(RecordKeyConverter.withTextKey(rec)) instanceof DecodedRecord.Event event) {
            return event.payload();
        }
        throw new AssertionError("not an event: " + rec);
    }

    private ConsumerRecord<byte[], byte[]> recorded(String release) throws IOException {
        List<String> lines = Files.readAllLines(file(release));
        byte[] value = Base64.getDecoder().decode(lines.getLast());
        var headers = new RecordHeaders();
        lines.stream().takeWhile(line -> !line.isEmpty()).forEach(line -> {
            String[] header = line.split(": ", 2);
            headers.add(header[0], header[1].getBytes(UTF_8));
        });
        return new ConsumerRecord<>(
                CODEC.topics().name(parts.spec().changelog()),
                0,
                0,
                TIME.toEpochMilli(),
                TimestampType.LOG_APPEND_TIME,
                0,
                value.length,
                key.getBytes(UTF_8),
                value,
                headers,
                Optional.empty());
    }
}
