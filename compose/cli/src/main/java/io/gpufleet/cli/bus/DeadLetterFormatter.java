package io.gpufleet.cli.bus;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Formats a dead letter: time, key, headers, and the start of the value. */
public final class DeadLetterFormatter {
    private static final int MAX_VALUE = 160;

    private DeadLetterFormatter() {}

    /** The text, of three lines and more. */
    public static String format(ConsumerRecord<String, byte[]> rec) {
        String headers = StreamSupport.stream(rec.headers().spliterator(), false)
                .map(header -> header.key() + "=" + text(header.value()))
                .collect(Collectors.joining(" "));
        return Instant.ofEpochMilli(rec.timestamp()) + "  key=" + rec.key() + "  partition=" + rec.partition()
                + " offset=" + rec.offset() + "\n  " + headers + "\n  " + text(rec.value());
    }

    /** The printable characters; the topic keeps every byte. */
    static String text(byte[] bytes) {
        if (bytes == null) {
            return "(none)";
        }
        String text = new String(bytes, StandardCharsets.UTF_8).replaceAll("[\\p{Cntrl}\uFFFD]", "·");
        return text.length() > MAX_VALUE ? text.substring(0, MAX_VALUE) + "… (" + bytes.length + " bytes)" : text;
    }
}
