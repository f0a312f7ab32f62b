package io.gpufleet.wire.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The comment of each message in the .proto files names its event type and topics. */
@NullMarked
class ProtoCommentsTest {
    private final String sources = read();

    @ParameterizedTest
    @EnumSource
    void commentOfAMessageNamesItsTypeAndTopics(EventType type) {
        String comment = commentOf(type.prototype().getDescriptorForType().getName());

        assertThat(comment).contains(type.ceType());
        for (Topic topic : type.topics()) {
            assertThat(comment).containsPattern("\\b" + Pattern.quote(topic.suffix()) + "\\b");
        }
    }

    private String commentOf(String message) {
        Matcher found = Pattern.compile("((?://[^\\n]*\\n)+)message " + message + " \\{")
                .matcher(sources);
        assertThat(found.find()).as("message " + message + " has a comment").isTrue();
        return found.group(1).replaceAll("\\s*//\\s*", " ");
    }

    private static String read() {
        try (Stream<Path> files = Files.walk(Path.of("src/main/proto"))) {
            return files.filter(file -> file.toString().endsWith(".proto"))
                    .map(ProtoCommentsTest::text)
                    .collect(Collectors.joining("\n"));
        } catch (IOException missing) {
            throw new java.io.UncheckedIOException(missing);
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException missing) {
            throw new java.io.UncheckedIOException(missing);
        }
    }
}
