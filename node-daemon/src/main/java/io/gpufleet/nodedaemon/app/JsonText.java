package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import java.util.List;
import java.util.Map;

/** Writes trees of maps, lists, readings and plain values, two spaces a level; a library would be too much for it. */
final class JsonText {
    private JsonText() {}

    static String of(Object value) {
        return write(value, "") + "\n";
    }

    private static String write(Object value, String indent) {
        return switch (value) {
            case Map<?, ?> map ->
                block(
                        map.entrySet().stream()
                                .map(entry -> quoted(entry.getKey()) + ": " + write(entry.getValue(), indent + "  "))
                                .toList(),
                        indent,
                        "{}");
            case List<?> list ->
                block(list.stream().map(item -> write(item, indent + "  ")).toList(), indent, "[]");
            case Known<?>(Object known) -> write(known, indent);
            case Unavailable<?>(String reason) -> "{\"unavailable\": " + quoted(reason) + "}";
            case Number number -> number.toString();
            case Boolean bool -> bool.toString();
            default -> quoted(value);
        };
    }

    private static String block(List<String> items, String indent, String brackets) {
        return items.isEmpty()
                ? brackets
                : brackets.charAt(0) + "\n" + indent + "  " + String.join(",\n" + indent + "  ", items) + "\n" + indent
                        + brackets.charAt(1);
    }

    private static String quoted(Object value) {
        StringBuilder text = new StringBuilder("\"");
        value.toString().chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                text.append('\\').append((char) c);
            } else if (c < ' ') {
                text.append(String.format("\\u%04x", c));
            } else {
                text.append((char) c);
            }
        });
        return text.append('"').toString();
    }
}
