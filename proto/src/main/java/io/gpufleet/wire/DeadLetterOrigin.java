package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * Where a dead letter was found, from its headers {@code dlq.*}. A dead letter is replayed by writing it to its topic
 * again with these headers and {@code dlq.replayed}, the time of the replay: the service that could not apply it applies
 * it then, once, and every other reader has met its {@code ce_id} before.
 *
 * @param consumer service that could not read or apply it
 * @param topic full name of its topic
 * @param partition its partition
 * @param offset its offset
 * @param appendedAt its append time; an event does not become younger by a replay
 */
public record DeadLetterOrigin(String consumer, String topic, int partition, long offset, Instant appendedAt) {
    /** Begin of the names of all headers that a dead letter has beside those found. */
    public static final String PREFIX = "dlq.";

    /** Present on a record that was replayed, and on the note in the dead letters that it was applied. */
    public static final String REPLAYED = "dlq.replayed";

    private static final String REASON = "dlq.reason";

    /** Reads the headers of a dead letter; throws {@link IllegalArgumentException} where one is missing or wrong. */
    public static DeadLetterOrigin of(Headers headers) {
        return new DeadLetterOrigin(
                get(headers, "dlq.consumer"),
                get(headers, "dlq.topic"),
                (int) number(headers, "dlq.partition"),
                number(headers, "dlq.offset"),
                Instant.ofEpochMilli(number(headers, "dlq.timestamp")));
    }

    /** The origin of a record that was replayed; empty for any other record. */
    public static Optional<DeadLetterOrigin> ofReplayed(Headers headers) {
        return headers.lastHeader(REPLAYED) == null ? Optional.empty() : Optional.of(of(headers));
    }

    /** The record that replays a dead letter: on its topic and partition, byte for byte, with its origin. */
    public ProducerRecord<byte[], byte[]> replay(ConsumerRecord<byte[], byte[]> letter, Instant now) {
        var again = new ProducerRecord<>(topic, partition, letter.key(), letter.value());
        for (Header header : letter.headers()) {
            if (!header.key().equals(REASON) && !header.key().equals(REPLAYED)) {
                again.headers().add(header);
            }
        }
        again.headers().add(REPLAYED, now.toString().getBytes(UTF_8));
        return again;
    }

    /** Adds the headers that tell the origin. */
    public void addTo(Headers headers) {
        put(headers, "dlq.topic", topic);
        put(headers, "dlq.partition", Integer.toString(partition));
        put(headers, "dlq.offset", Long.toString(offset));
        put(headers, "dlq.timestamp", Long.toString(appendedAt.toEpochMilli()));
        put(headers, "dlq.consumer", consumer);
    }

    /** Position and append time: a topic that is created anew gives its offsets again. */
    public String position() {
        return topic + "/" + partition + "/" + offset + "/" + appendedAt.toEpochMilli();
    }

    private static void put(Headers headers, String name, String value) {
        headers.add(name, value.getBytes(UTF_8));
    }

    private static long number(Headers headers, String name) {
        String text = get(headers, name);
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException wrong) {
            throw new IllegalArgumentException("header " + name + " '" + text + "' is no number", wrong);
        }
    }

    private static String get(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        if (header == null || header.value() == null) {
            throw new IllegalArgumentException("header " + name + " is missing");
        }
        return new String(header.value(), UTF_8);
    }
}
