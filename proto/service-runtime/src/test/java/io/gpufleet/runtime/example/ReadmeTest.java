package io.gpufleet.runtime.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** The example of the README is the one that is compiled. */
@NullMarked
class ReadmeTest {
    private static final Path SOURCES = Path.of("src/test/java/io/gpufleet/runtime/example");

    @Test
    void exampleInTheReadmeIsTheCompiledOne() throws IOException {
        String source = Files.readString(SOURCES.resolve("FaultCounter.java"));
        String example = source.substring(source.indexOf("/** Counts the faults"));

        assertThat(Files.readString(Path.of("README.md"))).contains("```java\n" + example + "```");
        assertThat(example.lines()).hasSizeLessThanOrEqualTo(60);
    }

    @Test
    void startInTheReadmeIsTheCompiledOne() throws IOException {
        String source = Files.readString(SOURCES.resolve("FaultCounterEngine.java"));
        String body = source.substring(source.indexOf("        EngineConfig config"), source.indexOf("\n    }\n}"));

        assertThat(Files.readString(Path.of("README.md"))).contains("```java\n" + body.stripIndent() + "\n```");
    }
}
