package io.gpufleet.wire.contract;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.NullMarked;

/**
 * One recorded event of each type, as it is on the bus: a file with one line for each header, an empty line, and the
 * value.
 */
@NullMarked
final class GoldenRecords {
    private static final Path DIRECTORY = Path.of("src/test/resources/golden");
    private static final String CLUSTER = "prod";
    private static final long INCARNATION = 1_795_305_600_000L;
    static final Codec CODEC = new Codec(CLUSTER, new Topics(Topics.DEFAULT_PREFIX));

    private GoldenRecords() {}

    /** States of the first releases, which wrote them as JSON; a service still restores them. */
    static Path fileOfJson(EventType type) {
        return Path.of("src/test/resources/golden-json").resolve(AsyncApiMain.shortName(type) + ".record");
    }

    /** File of a type. */
    static Path file(EventType type) {
        return DIRECTORY.resolve(AsyncApiMain.shortName(type) + ".record");
    }

    /** The first topic on which the type is allowed. */
    static Topic topic(EventType type) {
        return Arrays.stream(Topic.values())
                .filter(type.topics()::contains)
                .findFirst()
                .orElseThrow();
    }

    /** The sample of a type, encoded. */
    static ProducerRecord<String, byte[]> encoded(EventType type) {
        return CODEC.encode(envelope(type), SampleMessages.of(type.prototype()));
    }

    /** The envelope of the sample of a type. */
    static Envelope envelope(EventType type) {
        String service = AsyncApiMain.program(type.writer());
        EventSource source = switch (type.writer()) {
            case DAEMON -> new EventSource.Node(CLUSTER, SampleMessages.NODE);
            case ANY_SERVICE, HEALTH_SERVICE, INVENTORY_SERVICE, ALLOCATION_SERVICE ->
                new EventSource.Service(
                        CLUSTER, (type.writer() == EventType.Writer.ANY_SERVICE ? "health-service" : service) + "-0");
        };
        boolean aboutADevice = type.prototype().getDescriptorForType().findFieldByName("device_uuid") != null;
        return new Envelope(
                new EventId(source.name(), INCARNATION, topic(type), 12),
                source,
                type,
                aboutADevice ? SampleMessages.DEVICE : "",
                key(type),
                new EventTime(SampleMessages.TIME, SampleMessages.TIME.plusMillis(2), 2),
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    }

    private static String key(EventType type) {
        return switch (type) {
            case OFFSETS_COMMITTED -> "@offsets";
            case ACTIVE_CHANGED -> "@active";
            case WRITER_STARTED -> "@writer/health-service-0";
            case USAGE_SUMMED -> "2026-11-22/team-a/H100/allocated";
            default -> SampleMessages.NODE;
        };
    }

    /** A record as the content of its file. */
    static String text(ProducerRecord<String, byte[]> rec) {
        var text = new StringBuilder();
        rec.headers()
                .forEach(header -> text.append(header.key())
                        .append(": ")
                        .append(new String(header.value(), UTF_8))
                        .append('\n'));
        return text.append('\n').append(value(rec)).append('\n').toString();
    }

    /** JSON as it is, anything else as Base64. */
    private static String value(ProducerRecord<String, byte[]> rec) {
        return isJson(rec.headers())
                ? new String(rec.value(), UTF_8)
                : Base64.getEncoder().encodeToString(rec.value());
    }

    private static boolean isJson(Headers headers) {
        return new String(headers.lastHeader("content-type").value(), UTF_8).equals("application/json");
    }

    /** The recorded event of a type, as a consumer gets it. */
    static ConsumerRecord<String, byte[]> recorded(EventType type) throws IOException {
        return recorded(type, file(type));
    }

    /** The record of a file, as a consumer gets it. */
    static ConsumerRecord<String, byte[]> recorded(EventType type, Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        var headers = new RecordHeaders();
        lines.stream().takeWhile(line -> !line.isEmpty()).forEach(line -> {
            String[] parts = line.split(": ", 2);
            headers.add(parts[0], parts[1].getBytes(UTF_8));
        });
        byte[] value = isJson(headers)
                ? lines.getLast().getBytes(UTF_8)
                : Base64.getDecoder().decode(lines.getLast());
        return new ConsumerRecord<>(
                CODEC.topics().name(topic(type)),
                0,
                0,
                INCARNATION,
                TimestampType.LOG_APPEND_TIME,
                0,
                value.length,
                key(type),
                value,
                headers,
                Optional.empty());
    }

    /** Records every sample. */
    static void write() throws IOException {
        Files.createDirectories(DIRECTORY);
        for (EventType type : EventType.values()) {
            Files.writeString(file(type), text(encoded(type)));
        }
    }

    /** The payload of the sample of a type. */
    static Message payload(EventType type) {
        return SampleMessages.of(type.prototype());
    }
}
