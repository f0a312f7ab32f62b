package io.gpufleet.nodedaemon.disk;

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

class BreakGlassTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    private final List<Boolean> told = new CopyOnWriteArrayList<>();

    @Test
    void fileThatIsThereCountsBeforeAnybodyWatches() throws IOException {
        Path file = Files.createFile(directory.resolve("ignore-verdicts"));

        try (var glass = new BreakGlass(file, told::add)) {
            assertThat(glass.broken()).isTrue();
            assertThat(told).containsExactly(true);
        }
    }

    @Test
    void comingAndGoingIsToldOnceEach() throws IOException {
        Path file = directory.resolve("later/ignore-verdicts");
        try (var glass = new BreakGlass(file, told::add)) {
            glass.start();
            Files.createDirectory(file.getParent());
            Files.createFile(file);
            await().atMost(PATIENCE).until(() -> told.equals(List.of(true)));

            Files.delete(file);
            await().atMost(PATIENCE).until(() -> told.equals(List.of(true, false)));
            assertThat(glass.broken()).isFalse();
        }
    }
}
