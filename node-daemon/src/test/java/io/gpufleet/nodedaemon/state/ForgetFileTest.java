package io.gpufleet.nodedaemon.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForgetFileTest {
    @TempDir
    private Path directory;

    private final List<Set<String>> forgotten = new ArrayList<>();

    @Test
    void fileThatExistsAtTheStartIsAppliedAndDeleted() throws IOException {
        Files.writeString(directory.resolve("forget"), "GPU-a\n\n 1654922000001\tGPU-b\n");

        new ForgetFile(directory, forgotten::add).check();

        assertThat(forgotten).containsExactly(Set.of("GPU-a", "1654922000001", "GPU-b"));
        assertThat(directory.resolve("forget")).doesNotExist();
    }

    @Test
    void eachFileThatIsWrittenLaterIsAppliedOnce() throws IOException {
        var file = new ForgetFile(directory, forgotten::add);
        file.check();
        assertThat(forgotten).isEmpty();

        write("GPU-a");
        file.check();
        file.check();
        write("GPU-b");
        file.check();

        assertThat(forgotten).containsExactly(Set.of("GPU-a"), Set.of("GPU-b"));
    }

    private void write(String name) throws IOException {
        Files.move(Files.writeString(directory.resolve("forget.next"), name), directory.resolve("forget"));
    }
}
