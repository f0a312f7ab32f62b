package io.gpufleet.nodedaemon.kafka;

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
 * One event as the outbox keeps it: everything but what is only known when it is sent.
 *
 * @param epoch of the start that observed it
 * @param observed when it happened, by the wall clock
 * @param observedNanos the same by the monotonic clock of that start
 * @param json payload
 */
record OutboxEntry(
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

    /** Refuses a topic or type that this version does not know with {@link IllegalArgumentException}. */
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
            throw new IllegalArgumentException("record is cut off", truncated);
        }
    }
}
