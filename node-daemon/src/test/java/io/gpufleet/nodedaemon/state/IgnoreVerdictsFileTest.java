package io.gpufleet.nodedaemon.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IgnoreVerdictsFileTest {
    @TempDir
    Path directory;

    private final List<Boolean> changes = new ArrayList<>();

    @Test
    void existingFileAppliesBeforeTheStart() throws IOException {
        Path file = Files.createFile(directory.resolve("ignore-verdicts"));

        var glass = new IgnoreVerdictsFile(file, changes::add);

        assertThat(glass.active()).isTrue();
        assertThat(changes).containsExactly(true);
    }

    @Test
    void creationAndDeletionAreReportedOnceEach() throws IOException {
        Path file = directory.resolve("later/ignore-verdicts");
        var glass = new IgnoreVerdictsFile(file, changes::add);
        glass.check();
        Files.createDirectory(file.getParent());
        Files.createFile(file);

        glass.check();
        glass.check();

        assertThat(changes).containsExactly(true);
        Files.delete(file);
        glass.check();
        assertThat(changes).containsExactly(true, false);
        assertThat(glass.active()).isFalse();
    }
}
