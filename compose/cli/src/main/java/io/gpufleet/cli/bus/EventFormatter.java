package io.gpufleet.cli.bus;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Envelope;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Formats a record of the bus as one line: time, topic, source, type, and the payload as key=value. */
public final class EventFormatter {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);
    private static final String TYPE_PREFIX = "io.gpufleet.";
    private static final int MAX_VALUE = 80;
    private static final int MAX_LINE = 400;

    private final ZoneId zone;
    private final int maxValue;
    private final int maxLine;

    private EventFormatter(ZoneId zone, int maxValue, int maxLine) {
        this.zone = zone;
        this.maxValue = maxValue;
        this.maxLine = maxLine;
    }

    /** Cuts long values and lines; times are in this zone. */
    public EventFormatter(ZoneId zone) {
        this(zone, MAX_VALUE, MAX_LINE);
    }

    /** Cuts nothing. */
    public static EventFormatter full(ZoneId zone) {
        return new EventFormatter(zone, Integer.MAX_VALUE, Integer.MAX_VALUE);
    }

    /** The line of a record of a topic. */
    public String format(String topic, DecodedRecord decoded) {
        return switch (decoded) {
            case DecodedRecord.Event event ->
                line(prefix(event.appendedAt(), topic, event.envelope().key()) + type(event.envelope()), fields(event));
            case DecodedRecord.Tombstone tombstone ->
                prefix(tombstone.appendedAt(), topic, tombstone.key()) + "(given up)";
            case DecodedRecord.UnknownType unknown ->
                "             " + topic + "  " + unknown.key() + " of a later release: " + unknown.ceType();
            case DecodedRecord.Poison poison -> "             " + topic + "  unreadable: " + poison.reason();
        };
    }

    private String prefix(Instant time, String topic, String key) {
        return String.format(Locale.ROOT, "%s  %-14s %-10s ", CLOCK.format(time.atZone(zone)), topic, key);
    }

    private static String type(Envelope envelope) {
        String type = envelope.type().ceType();
        String shortened = type.startsWith(TYPE_PREFIX) ? type.substring(TYPE_PREFIX.length()) : type;
        return String.format(Locale.ROOT, "%-20s", shortened.replaceAll("\\.v\\d+$", ""));
    }

    /** The subject and the payload; where lines are cut, the device of the subject is named once. */
    private List<String> fields(DecodedRecord.Event event) {
        String subject = event.envelope().subject();
        try {
            var words = new ArrayList<String>();
            flatten("", JSON.readTree(new String(Codec.toJson(event.payload()), StandardCharsets.UTF_8)), words);
            if (!subject.isEmpty()) {
                words.removeIf(word -> maxLine < Integer.MAX_VALUE && word.endsWith("deviceUuid=" + subject));
                words.addFirst("device=" + subject);
            }
            return words;
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("the codec wrote it", impossible);
        }
    }

    /** Flattens objects to paths, lists of scalars to brackets, and lists of objects to indexed paths. */
    void flatten(String path, JsonNode node, List<String> words) {
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
            String shown = text.length() > maxValue ? text.substring(0, maxValue) + "…" : text;
            words.add(path + "=" + (shown.contains(" ") ? "'" + shown + "'" : shown));
        }
    }

    /** Cuts between fields, since a part of a number would be another number. */
    private String line(String start, List<String> fields) {
        var line = new StringBuilder(start);
        for (String field : fields) {
            if (line.length() + field.length() >= maxLine) {
                return line.append(" …").toString();
            }
            line.append(' ').append(field);
        }
        return line.toString();
    }
}
