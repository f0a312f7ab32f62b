package io.gpufleet.runtime.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.wire.DeadLetterOrigin;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes dead letters: the record as it was found, and five headers.
 *
 * <pre>
 * dlq.reason     why, at most 1 KiB          dlq.offset     where it stood
 * dlq.topic      full name of its topic      dlq.timestamp  its append time, Unix milliseconds
 * dlq.partition  its partition               dlq.consumer   service that could not read it
 * dlq.truncated  only where value or headers had to be cut to fit: their size in bytes before
 * dlq.replayed   only on the note that a dead letter was applied after a replay: the time
 * </pre>
 */
public final class DeadLetters {
    private static final Logger LOG = LoggerFactory.getLogger(DeadLetters.class);
    private static final int REASON_BYTES = 1024;
    /** Controls, ends of lines, and what reverses the direction of a text. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

    /** Left for our own headers and the record's framing. */
    private static final int RESERVED_BYTES = 4096;

    private final String topic;
    private final String consumer;
    private final int room;

    public DeadLetters(String topic, String consumer) {
        this.topic = topic;
        this.consumer = consumer;
        this.room = Topic.DEADLETTER.maxMessageBytes() - RESERVED_BYTES;
    }

    public ProducerRecord<byte[], byte[]> of(ConsumerRecord<byte[], byte[]> found, String reason) {
        LOG.atWarn()
                .addKeyValue("topic", found.topic())
                .addKeyValue("partition", found.partition())
                .addKeyValue("offset", found.offset())
                .addKeyValue("reason", cut(reason))
                .log("record goes to the dead letters");
        int size = RecordSize.of(found.key(), found.value(), found.headers());
        boolean fits = size <= room;
        byte[] value = fits || found.value() == null ? found.value() : Arrays.copyOf(found.value(), fitting(found));
        byte[] key = fits || found.key() == null || found.key().length <= 512
                ? found.key()
                : Arrays.copyOf(found.key(), 512);
        var letter = new ProducerRecord<>(topic, null, key, value);
        for (Header header : found.headers()) {
            boolean ours = header.key().startsWith(DeadLetterOrigin.PREFIX);
            if (!ours && (fits || header.value() == null || header.value().length <= 512)) {
                letter.headers().add(header);
            }
        }
        if (!fits) {
            put(letter, "dlq.truncated", Integer.toString(size));
        }
        put(letter, "dlq.reason", cut(reason));
        origin(found).addTo(letter.headers());
        return letter;
    }

    /** A replay that fails again keeps its origin, by which it is applied at most once. */
    private DeadLetterOrigin origin(ConsumerRecord<byte[], byte[]> found) {
        try {
            Optional<DeadLetterOrigin> first = DeadLetterOrigin.ofReplayed(found.headers());
            if (first.isPresent() && first.get().consumer().equals(consumer)) {
                return first.get();
            }
        } catch (IllegalArgumentException forged) {
            LOG.atWarn().addKeyValue("reason", forged.getMessage()).log("a replayed record does not tell its origin");
        }
        return new DeadLetterOrigin(
                consumer, found.topic(), found.partition(), found.offset(), Instant.ofEpochMilli(found.timestamp()));
    }

    /** The note that a replayed record was applied: its key, no value, its origin. */
    public ProducerRecord<byte[], byte[]> replayed(
            ConsumerRecord<byte[], byte[]> found, DeadLetterOrigin origin, Instant at) {
        var note = new ProducerRecord<byte[], byte[]>(topic, null, found.key(), null);
        put(note, "dlq.reason", "applied after a replay");
        origin.addTo(note.headers());
        put(note, DeadLetterOrigin.REPLAYED, at.toString());
        return note;
    }

    /** With many small headers the value still has half of the room. */
    private int fitting(ConsumerRecord<byte[], byte[]> found) {
        return Math.min(found.value().length, room / 2);
    }

    /** One short line: a reason quotes the record, whose text may pretend to be further lines of a log. */
    private static String cut(String reason) {
        String line = UNPRINTABLE.matcher(reason).replaceAll("?");
        byte[] bytes = line.getBytes(UTF_8);
        int end = Math.min(bytes.length, REASON_BYTES);
        // Half a character would be read as another one, which takes three bytes.
        while (end < bytes.length && (bytes[end] & 0xc0) == 0x80) {
            end--;
        }
        return new String(bytes, 0, end, UTF_8);
    }

    private static void put(ProducerRecord<byte[], byte[]> letter, String name, String value) {
        letter.headers().add(name, value.getBytes(UTF_8));
    }
}
