package io.gpufleet.compose.bus;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Decoded;
import io.gpufleet.wire.Envelope;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** One record of the bus as one line for people: when, where, who, what, and the payload as key=value. */
public final class EventLine {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);
    private static final String TYPE_PREFIX = "io.gpufleet.";
    private static final int MAX_VALUE = 80;
    private static final int MAX_LINE = 400;

    private final ZoneId zone;

    /** Lines with the wall clock of a zone. */
    public EventLine(ZoneId zone) {
        this.zone = zone;
    }

    /** The line of a record that stood on a topic. */
    public String of(String topic, Decoded decoded) {
        return switch (decoded) {
            case Decoded.Event event ->
                cut(head(event.appendedAt(), topic, event.envelope().key())
                        + type(event.envelope())
                        + subject(event.envelope())
                        + payload(event));
            case Decoded.Tombstone tombstone -> head(tombstone.appendedAt(), topic, tombstone.key()) + "(given up)";
            case Decoded.Poison poison -> "             " + topic + "  unreadable: " + poison.reason();
        };
    }

    private String head(Instant time, String topic, String key) {
        return String.format(Locale.ROOT, "%s  %-14s %-10s ", CLOCK.format(time.atZone(zone)), topic, key);
    }

    private static String type(Envelope envelope) {
        String type = envelope.type().ceType();
        String shortened = type.startsWith(TYPE_PREFIX) ? type.substring(TYPE_PREFIX.length()) : type;
        return String.format(Locale.ROOT, "%-20s", shortened.replaceAll("\\.v\\d+$", ""));
    }

    private static String subject(Envelope envelope) {
        return envelope.subject().isEmpty() ? "" : " device=" + envelope.subject();
    }

    private static String payload(Decoded.Event event) {
        try {
            var words = new ArrayList<String>();
            flatten("", JSON.readTree(new String(Codec.toJson(event.payload()), StandardCharsets.UTF_8)), words);
            return words.isEmpty() ? "" : " " + String.join(" ", words);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("the codec wrote it", impossible);
        }
    }

    /** Objects by their path, lists of plain values in brackets, lists of objects one after the other. */
    static void flatten(String path, JsonNode node, List<String> words) {
        if (node.isObject()) {
            node.properties()
                    .forEach(field -> flatten(
                            path.isEmpty() ? field.getKey() : path + "." + field.getKey(), field.getValue(), words));
        } else if (node.isArray() && node.size() > 0 && node.get(0).isObject()) {
            for (int i = 0; i < node.size(); i++) {
                flatten(path + "[" + i + "]", node.get(i), words);
            }
        } else if (node.isArray()) {
            var values = new ArrayList<String>();
            node.forEach(value -> values.add(value.asText()));
            words.add(path + "=[" + String.join(",", values) + "]");
        } else {
            String text = node.asText();
            String shown = text.length() > MAX_VALUE ? text.substring(0, MAX_VALUE) + "…" : text;
            words.add(path + "=" + (shown.contains(" ") ? "'" + shown + "'" : shown));
        }
    }

    private static String cut(String line) {
        return line.length() > MAX_LINE ? line.substring(0, MAX_LINE) + " …" : line;
    }
}
