package io.gpufleet.nodedaemon.kmsg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.KernelLogFault;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads logs from pipes and files with records as in /dev/kmsg. */
class KernelLogTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final long STARTED_MICROS = 1_000_000;

    @TempDir
    Path directory;

    private final List<KernelLogFault> reports = new CopyOnWriteArrayList<>();

    private KernelLog follow(Path file, String bootId) {
        return new KernelLog(
                new KernelLog.KernelLogSettings(file, directory.resolve("state"), bootId, () -> STARTED_MICROS),
                reports::add);
    }

    private static String xid(long sequence, long micros, int code) {
        return "3," + sequence + "," + micros + ",-;NVRM: Xid (PCI:0000:3b:00): " + code + ", pid=1\n SUBSYSTEM=pci\n";
    }

    private void write(Path file, String records) throws IOException {
        Files.writeString(file, records, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private void awaitCodes(Integer... codes) {
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(reports)
                        .extracting(report -> ((FaultCode.Xid) report.fault()).code())
                        .containsExactly(codes));
    }

    @Test
    void firstStartSkipsOldRecordsAndReadsNewOnes() throws IOException {
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
    void laterStartContinuesAfterThePosition() throws IOException {
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
    void recordsOfProgramsAreNoFaults() throws IOException {
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
            writer.write("3,1,2000000,-;NVRM: Xid (PCI:0000:".getBytes(StandardCharsets.UTF_8));
            writer.flush();
            writer.write("3b:00): 79, off\n".getBytes(StandardCharsets.UTF_8));
            writer.flush();

            awaitCodes(79);
        }
    }

    /** A device whose reads are scripted, record by record; an empty one fails, as for records that were overwritten. */
    private static final class ScriptedChannel implements ReadableByteChannel {
        private final Iterator<String> reads;
        private final CountDownLatch closed = new CountDownLatch(1);

        ScriptedChannel(String... reads) {
            this.reads = List.of(reads).iterator();
        }

        @Override
        public int read(ByteBuffer into) throws IOException {
            if (!reads.hasNext()) {
                try {
                    closed.await();
                } catch (InterruptedException closing) {
                    Thread.currentThread().interrupt();
                }
                throw new ClosedChannelException();
            }
            String next = reads.next();
            if (next.isEmpty()) {
                throw new IOException("Broken pipe");
            }
            byte[] bytes = next.getBytes(StandardCharsets.UTF_8);
            into.put(bytes);
            return bytes.length;
        }

        @Override
        public boolean isOpen() {
            return closed.getCount() > 0;
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }

    @Test
    void recordsThatWereOverwrittenAreCountedAndTheRestIsRead() {
        var device = new ScriptedChannel(
                xid(1, 2_000_000, 31),
                "",
                xid(90, 3_000_000, 48),
                "3,91,3000001,-;half a rec",
                "",
                xid(95, 4_000_000, 79));
        var settings = new KernelLog.KernelLogSettings(
                directory.resolve("kmsg"), directory.resolve("state"), "boot-1", () -> STARTED_MICROS);
        try (var log = new KernelLog(settings, reports::add, () -> device)) {
            awaitCodes(31, 48, 79);

            assertThat(log.overruns()).isEqualTo(2);
        }
    }

    @Test
    void positionIsStoredBeforeTheFirstFault() throws IOException {
        Path file = directory.resolve("kmsg");
        write(file, "");
        try (var _ = follow(file, "boot-1")) {
            assertThat(directory.resolve("state/kmsg")).hasContent("boot-1 -1 1000000");
        }
    }

    @Test
    void missingLogIsWaitedFor() throws IOException {
        Path file = directory.resolve("kmsg");
        try (var _ = follow(file, "boot-1")) {
            write(file, xid(9, 1_000_002, 31));

            awaitCodes(31);
        }
    }

    @Test
    void recordAfterTheEndWasReachedIsNewWhateverItsTimestamp() {
        var line = KmsgRecord.parse("3,9,5,-;x").orElseThrow();
        var first = KmsgPosition.initial("boot-1", STARTED_MICROS);

        assertThat(first.isUnread(line, false)).isFalse();
        assertThat(first.isUnread(line, true)).isTrue();
        assertThat(first.advancedTo(9).isUnread(line, true)).isFalse();
    }
}
