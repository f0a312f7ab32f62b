package io.gpufleet.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sentences of the main code of every module. They begin with a noun or a verb of the code: "Reason of the failure.", not
 * "What is the matter.". Here, in the module that is built last, a sentence ends no other test.
 */
class JavadocSentencesTest {
    private static final Path CHECKOUT = Path.of("../..");
    private static final Pattern REFUSED =
            Pattern.compile("/\\*\\*\\s+(?:\\*\\s+)?(?:What|Who|Whoever|Whose|Whatever)\\b[^\\n]*");
    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

    private static Stream<Path> sources(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Stream<String> refused(String source) {
        return REFUSED.matcher(source).results().map(found -> found.group().replaceAll("\\s+", " "));
    }

    private static Stream<String> refused(Path file) {
        try {
            return refused(Files.readString(file)).map(sentence -> CHECKOUT.relativize(file) + ": " + sentence);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    @Test
    void everySentenceBeginsWithANounOrAVerb() throws IOException {
        List<Path> sources = MODULE.matcher(Files.readString(CHECKOUT.resolve("pom.xml")))
                .results()
                .map(module -> CHECKOUT.resolve(module.group(1)).resolve("src/main/java"))
                .filter(Files::isDirectory)
                .flatMap(JavadocSentencesTest::sources)
                .toList();

        assertThat(sources).hasSizeGreaterThan(1_000);
        assertThat(sources.stream().flatMap(JavadocSentencesTest::refused)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/** What is the matter. */", "/**\n * Who may read.\n */", "    /** Whatever was read. */"})
    void otherBeginningsAreFound(String source) {
        assertThat(refused(source)).hasSize(1);
    }
}
