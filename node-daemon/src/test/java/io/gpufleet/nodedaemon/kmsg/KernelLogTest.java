package io.gpufleet.nodedaemon.kmsg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.KernelReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read of a log, told by a pipe or a file that holds records as /dev/kmsg gives them. */
class KernelLogTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final long STARTED_MICROS = 1_000_000;

    @TempDir
    Path directory;

    private final List<KernelReport> reports = new CopyOnWriteArrayList<>();

    private KernelLog follow(Path file, String bootId) {
        return new KernelLog(
                new KernelLog.Settings(file, directory.resolve("state"), bootId, () -> STARTED_MICROS), reports::add);
    }

    private static String xid(long sequence, long micros, int code) {
        return "3," + sequence + "," + micros + ",-;NVRM: Xid (PCI:0000:3b:00): " + code + ", pid=1\n SUBSYSTEM=pci\n";
    }

    private void write(Path file, String records) throws IOException {
        Files.writeString(file, records, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private void awaitCodes(Integer... codes) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(reports)
                        .extracting(report -> ((FaultCode.Xid) report.fault()).code())
                        .containsExactly(codes));
    }

    @Test
    void firstStartTakesWhatIsThereAsHistoryAndReadsOn() throws IOException {
        Path file = directory.resolve("kmsg");
        write(file, xid(7, 999_999, 79) + xid(8, 1_000_001, 48));
        try (var log = follow(file, "boot-1")) {
            awaitCodes(48);
            write(file, "6,9,1000002,-;usb 1-1: new device\n" + xid(10, 1_000_003, 31));

            awaitCodes(48, 31);
            assertThat(log.overruns()).isZero();
        }
    }

    @Test
    void laterStartGoesOnAfterWhatWasRead() throws IOException {
        Path file = directory.resolve("kmsg");
        write(file, xid(8, 1_000_001, 48));
        try (var _ = follow(file, "boot-1")) {
            awaitCodes(48);
        }
        write(file, xid(9, 1_000_002, 79));

        try (var _ = follow(file, "boot-1")) {
            awaitCodes(48, 79);
        }
    }

    @Test
    void anotherBootIsUnreadFromItsBeginning() throws IOException {
        Path file = directory.resolve("kmsg");
        write(file, xid(8, 1_000_001, 48));
        try (var _ = follow(file, "boot-1")) {
            awaitCodes(48);
        }
        Files.writeString(file, xid(3, 20, 143));

        try (var _ = follow(file, "boot-2")) {
            awaitCodes(48, 143);
        }
    }

    @Test
    void whatAProgramWritesIntoTheLogIsNoFault() throws IOException {
        Path file = directory.resolve("kmsg");
        write(file, "12,8,1000001,-;NVRM: Xid (PCI:0000:3b:00): 79, forged\n" + xid(9, 1_000_002, 31));

        try (var _ = follow(file, "boot-1")) {
            awaitCodes(31);
        }
    }

    @Test
    void recordsOfAPipeAreReadInPieces() throws Exception {
        Path pipe = directory.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        try (var _ = follow(pipe, "boot-1");
                var writer = Files.newOutputStream(pipe)) {
            writer.write("3,1,2000000,-;NVRM: Xid (PCI:0000:".getBytes(java.nio.charset.StandardCharsets.UTF_8));
            writer.flush();
            writer.write("3b:00): 79, off\n".getBytes(java.nio.charset.StandardCharsets.UTF_8));
            writer.flush();

            awaitCodes(79);
        }
    }

    @Test
    void placeIsKeptEvenBeforeThereIsAnyFault() throws IOException {
        Path file = directory.resolve("kmsg");
        write(file, "");
        try (var _ = follow(file, "boot-1")) {
            assertThat(directory.resolve("state/kmsg")).hasContent("boot-1 -1 1000000");
        }
    }

    @Test
    void logThatIsNotThereIsWaitedFor() throws IOException {
        Path file = directory.resolve("kmsg");
        try (var _ = follow(file, "boot-1")) {
            write(file, xid(9, 1_000_002, 31));

            awaitCodes(31);
        }
    }

    @Test
    void recordAfterTheEndWasReachedIsNewWhateverItsClockSays() {
        var line = KernelRecord.parse("3,9,5,-;x").orElseThrow();
        var first = Bookmark.first("boot-1", STARTED_MICROS);

        assertThat(first.unread(line, false)).isFalse();
        assertThat(first.unread(line, true)).isTrue();
        assertThat(first.at(9).unread(line, true)).isFalse();
    }
}
