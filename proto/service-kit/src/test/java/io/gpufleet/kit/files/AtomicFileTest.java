package io.gpufleet.kit.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.gpufleet.kit.files.AtomicFile.Durability;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AtomicFileTest {
    private static final byte[] CONTENT = "new".getBytes(UTF_8);

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource
    void contentIsReplacedAndNoDraftIsLeft(Durability durability) throws Exception {
        Path file = directory.resolve("sub/state.json");

        AtomicFile.write(file, "old and longer".getBytes(UTF_8), durability);
        AtomicFile.write(file, CONTENT, durability);

        assertThat(file).hasContent("new");
        assertThat(file.getParent()).isDirectoryNotContaining(entry -> !entry.equals(file));
    }

    @ParameterizedTest
    @EnumSource
    void readerNeverSeesAPart(Durability durability) throws Exception {
        // Given
        Path file = directory.resolve("state.json");
        byte[][] contents = {filled('a', 64 * 1024), filled('b', 200 * 1024), filled('c', 1)};
        AtomicFile.write(file, contents[0], durability);
        var written = new AtomicBoolean();

        // When
        CompletableFuture<Set<String>> reader = CompletableFuture.supplyAsync(() -> {
            Set<String> seen = new HashSet<>();
            while (!written.get()) {
                seen.add(describe(file));
            }
            return seen;
        });
        for (int i = 0; i < 300; i++) {
            AtomicFile.write(file, contents[i % contents.length], durability);
        }
        written.set(true);

        // Then
        assertThat(reader.get()).isSubsetOf("a 65536", "b 204800", "c 1").isNotEmpty();
    }

    @Test
    void draftOfAKilledProcessIsOverwritten() throws Exception {
        Path file = directory.resolve("state.json");
        Files.writeString(file, "old");
        Files.writeString(directory.resolve("state.json.next"), "what a killed process had written");
        assertThat(file).hasContent("old");

        AtomicFile.write(file, CONTENT, Durability.PROCESS);

        assertThat(file).hasContent("new");
        assertThat(directory.resolve("state.json.next")).doesNotExist();
    }

    @Test
    void readOnlyDirectoryIsAnErrorThatNamesTheFile() throws Exception {
        Path file = directory.resolve("state.json");
        Files.writeString(file, "old");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("r-xr-xr-x"));
        assumeFalse(Files.isWritable(directory), "root may write everywhere");

        assertThatThrownBy(() -> AtomicFile.write(file, CONTENT, Durability.PROCESS))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString());
        assertThat(file).hasContent("old");
    }

    @Test
    void draftThatCannotBeWrittenIsAnErrorThatNamesTheFile() throws Exception {
        Path file = directory.resolve("state.json");
        Files.writeString(file, "old");
        Files.createDirectories(directory.resolve("state.json.next/not-empty"));

        assertThatThrownBy(() -> AtomicFile.write(file, CONTENT, Durability.POWER_CUT))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString());
        assertThat(file).hasContent("old");
    }

    @Test
    void draftIsDeletedWhenTheRenameFails() throws Exception {
        Path file = directory.resolve("state.json");
        Files.createDirectories(file.resolve("not-empty"));

        assertThatThrownBy(() -> AtomicFile.write(file, CONTENT, Durability.PROCESS))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString());
        assertThat(directory.resolve("state.json.next")).doesNotExist();
    }

    @Test
    void interruptedThreadStillWrites() throws Exception {
        Path file = directory.resolve("state.json");
        Thread.currentThread().interrupt();

        AtomicFile.write(file, CONTENT, Durability.PROCESS);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(file).hasContent("new");
    }

    @Test
    void writeIfChangedLeavesAnEqualFileAlone() throws Exception {
        Path file = directory.resolve("state.json");
        FileTime longAgo = FileTime.fromMillis(1000);

        assertThat(AtomicFile.writeIfChanged(file, CONTENT, Durability.PROCESS)).isTrue();
        Files.setLastModifiedTime(file, longAgo);
        assertThat(AtomicFile.writeIfChanged(file, CONTENT, Durability.PROCESS)).isFalse();
        assertThat(Files.getLastModifiedTime(file)).isEqualTo(longAgo);

        assertThat(AtomicFile.writeIfChanged(file, "other".getBytes(UTF_8), Durability.PROCESS))
                .isTrue();
        assertThat(file).hasContent("other");
    }

    private static byte[] filled(char letter, int length) {
        byte[] content = new byte[length];
        Arrays.fill(content, (byte) letter);
        return content;
    }

    /** Returns the letter and the length of the content, or the error. */
    private static String describe(Path file) {
        try {
            String text = Files.readString(file);
            String letters = text.replaceAll("(.)\\1+", "$1");
            return letters + " " + text.length();
        } catch (IOException unreadable) {
            return unreadable.toString();
        }
    }
}
