package io.gpufleet.testbed.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class KafkaJarsTest {
    @TempDir
    Path temporary;

    @Test
    void programOfCheckoutFindsItsJarsFromAnyWorkingDirectory() throws IOException {
        // Given
        Path tree = temporary.resolve("checkout");
        Path kafka = jars(tree.resolve("compose/testbed/kafka-broker/target/kafka"));
        Path code = file(tree.resolve("compose/cli/target/lib/kafka-broker.jar"));
        // When
        String classPath = KafkaJars.classPath(code, temporary.resolve("elsewhere"));
        // Then
        assertThat(classPath).isEqualTo(kafka + File.separator + "*");
    }

    @Test
    void jarsAboveCodeTakePrecedenceOverThoseAboveWorkingDirectory() throws IOException {
        // Given
        Path kafka = jars(temporary.resolve("one/compose/testbed/kafka-broker/target/kafka"));
        Path code = file(temporary.resolve("one/compose/cli/target/lib/kafka-broker.jar"));
        jars(temporary.resolve("two/compose/testbed/kafka-broker/target/kafka"));
        // When
        String classPath = KafkaJars.classPath(code, temporary.resolve("two/compose"));
        // Then
        assertThat(classPath).isEqualTo(kafka + File.separator + "*");
    }

    @Test
    void missingJarsAreReportedWithRemedy() {
        assertThatThrownBy(() -> KafkaJars.classPath(temporary.resolve("lib/kafka-broker.jar"), temporary))
                .hasMessageContaining("mvn -pl compose/testbed/kafka-broker package");
    }

    private static Path jars(Path directory) throws IOException {
        file(directory.resolve("kafka_2.13-4.3.1.jar"));
        return directory;
    }

    private static Path file(Path path) throws IOException {
        Files.createDirectories(path.getParent());
        return Files.createFile(path);
    }
}
