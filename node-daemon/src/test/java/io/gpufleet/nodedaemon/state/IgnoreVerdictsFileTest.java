package io.gpufleet.nodedaemon.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IgnoreVerdictsFileTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    private final List<Boolean> changes = new CopyOnWriteArrayList<>();

    @Test
    void existingFileAppliesBeforeTheStart() throws IOException {
        Path file = Files.createFile(directory.resolve("ignore-verdicts"));

        try (var glass = new IgnoreVerdictsFile(file, changes::add)) {
            assertThat(glass.active()).isTrue();
            assertThat(changes).containsExactly(true);
        }
    }

    @Test
    void creationAndDeletionAreReportedOnceEach() throws IOException {
        Path file = directory.resolve("later/ignore-verdicts");
        try (var glass = new IgnoreVerdictsFile(file, changes::add)) {
            glass.start();
            Files.createDirectory(file.getParent());
            Files.createFile(file);
            await().atMost(TIMEOUT).until(() -> changes.equals(List.of(true)));

            Files.delete(file);
            await().atMost(TIMEOUT).until(() -> changes.equals(List.of(true, false)));
            assertThat(glass.active()).isFalse();
        }
    }
}
