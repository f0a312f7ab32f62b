package io.gpufleet.compose.bus;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** One dead letter for people: when, key, every header, and the start of the value. */
public final class DeadLetterLine {
    private static final int MAX_VALUE = 160;

    private DeadLetterLine() {}

    /** Three lines. */
    public static String of(ConsumerRecord<String, byte[]> rec) {
        String headers = StreamSupport.stream(rec.headers().spliterator(), false)
                .map(header -> header.key() + "=" + text(header.value()))
                .collect(Collectors.joining(" "));
        return Instant.ofEpochMilli(rec.timestamp()) + "  key=" + rec.key() + "  partition=" + rec.partition()
                + " offset=" + rec.offset() + "\n  " + headers + "\n  " + text(rec.value());
    }

    /** What can be printed of it; the topic itself keeps every byte. */
    static String text(byte[] bytes) {
        if (bytes == null) {
            return "(none)";
        }
        String text = new String(bytes, StandardCharsets.UTF_8).replaceAll("[\\p{Cntrl}\uFFFD]", "·");
        return text.length() > MAX_VALUE ? text.substring(0, MAX_VALUE) + "… (" + bytes.length + " bytes)" : text;
    }
}
