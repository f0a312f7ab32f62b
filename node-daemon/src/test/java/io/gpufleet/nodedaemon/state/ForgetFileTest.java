package io.gpufleet.nodedaemon.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForgetFileTest {
    @TempDir
    private Path directory;

    private final List<Set<String>> forgotten = new CopyOnWriteArrayList<>();

    @Test
    void fileThatExistsAtTheStartIsAppliedAndDeleted() throws IOException {
        Files.writeString(directory.resolve("forget"), "GPU-a\n\n 1654922000001\tGPU-b\n");

        try (var file = new ForgetFile(directory, forgotten::add)) {
            file.start();

            assertThat(forgotten).containsExactly(Set.of("GPU-a", "1654922000001", "GPU-b"));
            assertThat(directory.resolve("forget")).doesNotExist();
        }
    }

    @Test
    void eachFileThatIsWrittenLaterIsApplied() throws IOException {
        try (var file = new ForgetFile(directory, forgotten::add)) {
            file.start();
            assertThat(forgotten).isEmpty();

            write("GPU-a");
            await().until(() -> forgotten.size() == 1);
            await().until(() -> !Files.exists(directory.resolve("forget")));
            write("GPU-b");

            await().until(() -> forgotten.equals(List.of(Set.of("GPU-a"), Set.of("GPU-b"))));
        }
    }

    private void write(String name) throws IOException {
        Files.move(Files.writeString(directory.resolve("forget.next"), name), directory.resolve("forget"));
    }
}
