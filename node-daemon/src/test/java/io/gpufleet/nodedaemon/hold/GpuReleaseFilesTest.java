package io.gpufleet.nodedaemon.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.hold.GpuReleaseRequest;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuReleaseFilesTest {
    private static final Instant WRITTEN = Instant.parse("2026-11-21T19:00:00Z");

    @TempDir
    private Path directory;

    private final AtomicInteger looks = new AtomicInteger();
    private Path run;
    private GpuReleaseFiles files;

    @BeforeEach
    void open() {
        run = directory.resolve("run");
        files = new GpuReleaseFiles(run, directory.resolve("nvidia").toString(), looks::incrementAndGet);
    }

    @AfterEach
    void close() {
        files.close();
    }

    private void ask(String text) throws IOException {
        Files.createDirectories(run);
        Files.setLastModifiedTime(Files.writeString(run.resolve("hold"), text), FileTime.from(WRITTEN));
    }

    @Test
    void noRequestWithoutAFile() {
        assertThat(files.request()).isEmpty();
    }

    @Test
    void fileIsTheRequest() throws IOException {
        ask("reason: reset of GPU 3\ndeadline: 5m\n");

        assertThat(files.request())
                .contains(new GpuReleaseRequest("reset of GPU 3", WRITTEN.plus(Duration.ofMinutes(5)), WRITTEN, ""));
    }

    @Test
    void fileThatCannotBeReadIsARequestToo() throws IOException {
        // Given a directory in place of the file: opening it for reading fails even for root
        Files.createDirectories(run.resolve("hold"));

        assertThat(files.request()).hasValueSatisfying(request -> {
            assertThat(request.warning()).contains("cannot be read");
            assertThat(Duration.between(request.writtenAt(), request.deadline()))
                    .isEqualTo(GpuReleaseRequest.DEFAULT_DURATION);
        });
    }

    @Test
    void changesOfTheFileAreReported() throws IOException {
        var changes = new AtomicInteger();
        files.onChange(changes::incrementAndGet);

        ask("");
        await().until(() -> changes.get() >= 1);
        int before = changes.get();

        Files.delete(run.resolve("hold"));
        await().until(() -> changes.get() > before);
    }

    @Test
    void otherFilesAreLookedAtWithoutAChangeToo() {
        files.onChange(() -> {});

        await().until(() -> looks.get() >= 2);
    }

    @Test
    void releasedFileIsWrittenAndRemoved() throws IOException {
        ask("reason: upgrade\ndeadline: 5m");

        assertThat(files.confirmReleased(files.request().orElseThrow())).isTrue();
        assertThat(run.resolve("released"))
                .hasContent("reason: upgrade\ndeadline: 2026-11-21T19:05:00Z\npid: "
                        + ProcessHandle.current().pid() + "\n");

        files.withdrawConfirmation();
        assertThat(run.resolve("released")).doesNotExist();
    }

    @Test
    void releaseIsNotReportedWhileAGpuIsOpenOrMapped() throws IOException {
        ask("");
        GpuReleaseRequest request = files.request().orElseThrow();
        Path gpu = Files.writeString(directory.resolve("nvidia0"), "x");

        try (var _ = FileChannel.open(gpu, StandardOpenOption.READ)) {
            assertThat(files.confirmReleased(request)).isFalse();
            assertThat(run.resolve("released")).doesNotExist();
        }

        try (var arena = java.lang.foreign.Arena.ofConfined()) {
            try (var channel = FileChannel.open(gpu, StandardOpenOption.READ)) {
                channel.map(FileChannel.MapMode.READ_ONLY, 0, 1, arena);
            }
            assertThat(files.confirmReleased(request)).isFalse();
        }

        assertThat(files.confirmReleased(request)).isTrue();
    }

    @Test
    void directoryThatCannotBeWrittenIsRetriedLater() throws IOException {
        Files.writeString(run, "a file where the directory should be");

        assertThat(files.confirmReleased(GpuReleaseRequest.parse("", WRITTEN))).isFalse();
        files.withdrawConfirmation();
    }
}
