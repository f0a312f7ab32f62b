package io.gpufleet.wire.contract;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** Comments above the fields of the .proto files, by message and field; messages of these files are not nested. */
@NullMarked
final class FieldComments {
    private static final Pattern MESSAGE = Pattern.compile("^message (\\w+) \\{.*");
    private static final Pattern FIELD =
            Pattern.compile("^\\s+(?:optional |repeated )?[\\w.]+(?:<[^>]*>)? (\\w+) = \\d+.*");

    private final Map<String, String> texts = new HashMap<>();

    FieldComments() {
        try (Stream<Path> files = Files.walk(Path.of("src/main/proto"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".proto")).toList()) {
                read(Files.readAllLines(file));
            }
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }

    private void read(List<String> lines) {
        String message = "";
        var comment = new StringBuilder();
        for (String line : lines) {
            Matcher begins = MESSAGE.matcher(line);
            Matcher field = FIELD.matcher(line);
            if (line.strip().startsWith("//")) {
                comment.append(comment.isEmpty() ? "" : " ")
                        .append(line.strip().substring(2).strip());
                continue;
            }
            if (begins.matches()) {
                message = begins.group(1);
            } else if (field.matches()) {
                texts.put(message + "." + field.group(1), comment.toString());
            }
            comment.setLength(0);
        }
    }

    /** The comment of a field, one line. */
    String of(String message, String field) {
        String text = texts.getOrDefault(message + "." + field, "");
        if (text.isEmpty()) {
            throw new IllegalStateException("field " + field + " of message " + message + " has no comment");
        }
        return text;
    }
}
