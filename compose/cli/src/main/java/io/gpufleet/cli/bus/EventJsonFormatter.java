package io.gpufleet.cli.bus;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Formats a record as one line of JSON: the CloudEvents attributes of its headers and {@code data}, as CloudEvents'
 * structured mode has them, with the place of the record in Kafka.
 */
public final class EventJsonFormatter {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String ATTRIBUTE = "ce_";

    private EventJsonFormatter() {}

    /** The line; {@code data} is null for a tombstone, and a text where the value is no JSON. */
    public static String format(ConsumerRecord<String, byte[]> rec) {
        var line = JSON.createObjectNode()
                .put("topic", rec.topic())
                .put("partition", rec.partition())
                .put("offset", rec.offset())
                .put("appendedAt", Instant.ofEpochMilli(rec.timestamp()).toString())
                .put("key", rec.key());
        rec.headers().forEach(header -> {
            if (header.key().startsWith(ATTRIBUTE)) {
                line.put(header.key().substring(ATTRIBUTE.length()), text(header.value()));
            }
        });
        line.set("data", data(rec.value()));
        try {
            return JSON.writeValueAsString(line);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("texts, numbers and parsed JSON are always JSON", impossible);
        }
    }

    private static JsonNode data(byte[] value) {
        if (value == null) {
            return JSON.nullNode();
        }
        try {
            return JSON.readTree(value);
        } catch (IOException binary) {
            return JSON.getNodeFactory().textNode(text(value));
        }
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
    }
}
