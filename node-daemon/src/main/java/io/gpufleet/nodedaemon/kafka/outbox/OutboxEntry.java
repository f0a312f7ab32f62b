package io.gpufleet.nodedaemon.kafka.outbox;

import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;

/**
 * One event in the outbox: everything except what is known only when it is sent. Encoded by {@link DataOutputStream}, so
 * {@code utf} is a length of 2 bytes and modified UTF-8, and integers are big-endian:
 *
 * <pre>
 * field             type    content
 * topic             utf     suffix of the topic's name
 * type              utf     CloudEvents type
 * subject           utf
 * epoch             int64
 * sequence          int64
 * observed seconds  int64   Unix time
 * observed nanos    int32   nanoseconds of that second
 * observedNanos     int64
 * json length       int32   bytes
 * json              bytes
 * </pre>
 *
 * @param epoch epoch of the daemon that observed the event
 * @param observed time of the event by the wall clock
 * @param observedNanos time of the event by the monotonic clock of that daemon
 * @param json payload
 */
public record OutboxEntry(
        Topic topic,
        EventType type,
        String subject,
        long epoch,
        long sequence,
        Instant observed,
        long observedNanos,
        byte[] json) {

    byte[] encode() {
        try {
            var bytes = new ByteArrayOutputStream(json.length + 160);
            var out = new DataOutputStream(bytes);
            out.writeUTF(topic.suffix());
            out.writeUTF(type.ceType());
            out.writeUTF(subject);
            out.writeLong(epoch);
            out.writeLong(sequence);
            out.writeLong(observed.getEpochSecond());
            out.writeInt(observed.getNano());
            out.writeLong(observedNanos);
            out.writeInt(json.length);
            out.write(json);
            return bytes.toByteArray();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** Throws {@link IllegalArgumentException} for a topic or type that this version does not know. */
    static OutboxEntry decode(byte[] record) {
        try (var in = new DataInputStream(new ByteArrayInputStream(record))) {
            String topic = in.readUTF();
            String type = in.readUTF();
            return new OutboxEntry(
                    Topics.bySuffix(topic).orElseThrow(() -> new IllegalArgumentException("topic " + topic)),
                    EventType.byName(type).orElseThrow(() -> new IllegalArgumentException("type " + type)),
                    in.readUTF(),
                    in.readLong(),
                    in.readLong(),
                    Instant.ofEpochSecond(in.readLong(), in.readInt()),
                    in.readLong(),
                    in.readNBytes(in.readInt()));
        } catch (IOException truncated) {
            throw new IllegalArgumentException("record is truncated", truncated);
        }
    }
}
