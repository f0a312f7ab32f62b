package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.CompanionWatch.MpsDaemonSpecs;
import io.gpufleet.nodedaemon.installer.InstallerStatusFile;
import io.gpufleet.nodedaemon.model.allocation.CompanionStatus;
import io.gpufleet.nodedaemon.model.allocation.MpsDaemonSpec;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.mps.MpsDirectories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompanionWatchTest {
    private static final String GPU = "nvidia.com/gpu";
    private static final Instant NOW = Instant.parse("2026-11-20T10:00:00Z");

    @TempDir
    Path directory;

    private final List<CompanionStatus> statuses = new ArrayList<>();
    private List<MpsDaemonSpec> specs = List.of();
    private CompanionWatch watch;

    @BeforeEach
    void start() throws IOException {
        Files.createDirectories(directory.resolve("proc/4711"));
        Files.createDirectory(directory.resolve("run"));
        watch = new CompanionWatch(
                new MpsDirectories(directory.resolve("proc"), Clock.fixed(NOW, ZoneOffset.UTC)),
                new InstallerStatusFile(directory.resolve("run")),
                () -> new MpsDaemonSpecs(directory.resolve("mps"), specs),
                statuses::add);
    }

    private Path mpsDirectory() {
        return directory.resolve("mps").resolve(GPU);
    }

    private MpsDaemonSpec spec(int shares) {
        return new MpsDaemonSpec(
                GPU,
                mpsDirectory().toString(),
                List.of(
                        new MpsDaemonSpec.SharedGpu("GPU-a", shares, new Reading.Known<>(80L << 30)),
                        new MpsDaemonSpec.SharedGpu("GPU-b", shares, new Reading.Unavailable<>("NOT_SUPPORTED"))));
    }

    private void ready(String order, String process, long secondsAgo) throws IOException {
        Files.createDirectories(mpsDirectory().resolve("pipe"));
        Files.writeString(mpsDirectory().resolve("pipe/control"), "");
        Path ready = Files.writeString(mpsDirectory().resolve("ready"), order + "\n" + process + "\n");
        Files.setLastModifiedTime(ready, FileTime.from(NOW.minusSeconds(secondsAgo)));
    }

    private String desiredVersion() throws IOException {
        return Files.readAllLines(mpsDirectory().resolve("desired")).getFirst().substring("version=".length());
    }

    private String mps() {
        watch.reconcile();
        return statuses.getLast().mps().getOrDefault(GPU, "");
    }

    @Test
    void specIsWrittenAsTextThatAShellReads() throws IOException {
        specs = List.of(spec(4));

        watch.reconcile();

        assertThat(Files.readAllLines(mpsDirectory().resolve("desired")).subList(1, 4))
                .containsExactly("devices=GPU-a,GPU-b", "threads=25", "limits=0:20480M");
    }

    @Test
    void controlDaemonThatAnsweredIsReady() throws IOException {
        specs = List.of(spec(4));
        assertThat(mps()).contains("has not responded");
        ready(desiredVersion(), "4711", 3);

        assertThat(mps()).isEqualTo(CompanionStatus.READY);
        assertThat(watch.reconcile()).isFalse();
        assertThat(statuses).hasSize(2);
    }

    @Test
    void controlDaemonThatStoppedAnsweringOrDiedIsNotReady() throws IOException {
        specs = List.of(spec(4));
        watch.reconcile();
        String number = desiredVersion();

        ready(number, "4711", 16);
        assertThat(mps()).contains("stopped responding");
        ready(number, "4712", 1);
        assertThat(mps()).contains("exited");
        ready(number, "4711", 1);
        Files.delete(mpsDirectory().resolve("pipe/control"));
        watch.reconcile();
        assertThat(statuses).hasSize(3);
    }

    @Test
    void statusOfAnEarlierSpecIsIgnored() throws IOException {
        specs = List.of(spec(4));
        watch.reconcile();
        ready(desiredVersion(), "4711", 1);
        specs = List.of(spec(8));

        assertThat(mps()).contains("newest spec");
    }

    @Test
    void specIsRemovedAlsoThatOfAnEarlierStart() throws IOException {
        specs = List.of(spec(4));
        watch.reconcile();
        Path left = Files.createDirectories(directory.resolve("mps/nvidia.com/gpu.shared"))
                .resolve("desired");
        Files.writeString(left, "version=1\n");

        watch.reconcile();
        assertThat(left).doesNotExist();
        assertThat(mpsDirectory().resolve("desired")).exists();
        specs = List.of();
        watch.reconcile();

        assertThat(mpsDirectory().resolve("desired")).doesNotExist();
        assertThat(statuses.getLast().mps()).isEmpty();
    }

    @Test
    void unwritableDirectoryIsReported() throws IOException {
        specs = List.of(spec(4));
        Files.writeString(directory.resolve("mps"), "no directory");

        assertThat(mps()).contains("desired cannot be written", "mount the directory of MPS writable");
    }

    @Test
    void installerStatusIsItsFirstLine() throws IOException {
        Files.writeString(directory.resolve("run/installer"), "installing 580.95\nsecond line\n");
        watch.reconcile();
        Files.delete(directory.resolve("run/installer"));
        watch.reconcile();

        assertThat(statuses).extracting(CompanionStatus::installer).containsExactly("installing 580.95", "");
    }

    @Test
    void filesAreReadOnceDevicesWereListedThenEveryFifthSecondOrAtTheNextWake() {
        specs = List.of(spec(4));
        watch.poll();
        assertThat(mpsDirectory()).doesNotExist();

        // When devices were listed
        watch.wake();
        watch.poll();

        // Then the spec is there, whose daemon has a problem, so that the next second reads again
        assertThat(mpsDirectory().resolve("desired")).exists();
        assertThat(statuses).hasSize(1);

        // When nothing is wanted any more, no problem is left
        specs = List.of();
        watch.poll();
        assertThat(statuses).hasSize(2);
        specs = List.of(spec(4));
        for (int second = 1; second < 5; second++) {
            watch.poll();
            assertThat(statuses).as("after %s s", second).hasSize(2);
        }
        watch.poll();
        assertThat(statuses).hasSize(3);
    }
}
