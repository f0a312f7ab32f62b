package io.gpufleet.nodedaemon.kafka.outbox;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kills a process that uses an outbox; {@code -Dgpufleet.kills=500} is the long run. */
class OutboxKillIT {
    private static final int KILLS = Integer.getInteger("gpufleet.kills", 12);

    @TempDir
    Path directory;

    private final Set<String> added = new LinkedHashSet<>();
    private final Set<String> perhapsAcknowledged = new HashSet<>();
    private final Set<String> acknowledged = new HashSet<>();
    private final Map<String, Long> highest = new TreeMap<>();
    private long epoch;
    private int addedTotal;

    private static Process start(List<String> before, String mainClass, Path directory) throws IOException {
        var command = new ArrayList<>(before);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                mainClass,
                directory.toString()));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    @Test
    void killsLoseNoAppendedEventAndReuseNoSequence() throws Exception {
        var random = new Random();
        for (int kill = 0; kill < KILLS; kill++) {
            Process program = start(List.of(), OutboxKillProgram.class.getName(), directory);
            try (BufferedReader output = program.inputReader(US_ASCII)) {
                readStart(output);
                readLines(output, program, random.nextInt(1, 2_000));
            } finally {
                program.destroyForcibly().waitFor();
            }
        }
        assertThat(addedTotal).isGreaterThan(KILLS * 10);
    }

    /** A start finds every event added and not acknowledged; at most one more was added and not printed. */
    private void readStart(BufferedReader output) throws IOException {
        List<String> found = new ArrayList<>();
        String line = line(output);
        while (line.startsWith("S ")) {
            found.add(line.substring(2));
            line = line(output);
        }
        long newEpoch = Long.parseLong(line.substring("R ".length()));
        assertThat(newEpoch).as("epochs grow").isGreaterThan(epoch);

        assertThat(found).doesNotHaveDuplicates().noneMatch(acknowledged::contains);
        Set<String> expected = new LinkedHashSet<>(added);
        expected.removeAll(perhapsAcknowledged);
        assertThat(found).containsAll(expected);
        Set<String> unprinted = new HashSet<>(found);
        unprinted.removeAll(added);
        assertThat(unprinted).hasSizeLessThanOrEqualTo(1);
        highest.clear();
        found.forEach(this::follows);
        epoch = newEpoch;
        added.clear();
        added.addAll(found);
        perhapsAcknowledged.clear();
        acknowledged.clear();
    }

    /** Sequences of one topic and epoch have no gap. */
    private void follows(String id) {
        int slash = id.lastIndexOf('/');
        long number = Long.parseLong(id.substring(slash + 1));
        Long before = highest.put(id.substring(0, slash), number);
        assertThat(before == null || number == before + 1).as(id).isTrue();
    }

    private void readLines(BufferedReader output, Process program, int lines) throws IOException {
        for (int count = 0; ; count++) {
            if (count == lines) {
                // Through the handle: Process.destroyForcibly closes the output.
                program.toHandle().destroyForcibly();
            }
            Optional<String> line = Optional.ofNullable(output.readLine());
            // The last line may be truncated and is ignored then.
            if (line.isEmpty() || !line.get().matches("[AFG] [a-z-]+/\\d+/\\d+")) {
                return;
            }
            String id = line.get().substring(2);
            switch (line.get().charAt(0)) {
                case 'A' -> {
                    assertThat(added.add(id)).as(id + " is used once").isTrue();
                    addedTotal++;
                }
                case 'F' -> perhapsAcknowledged.add(id);
                default -> acknowledged.add(id);
            }
        }
    }

    private static String line(BufferedReader output) throws IOException {
        return Optional.ofNullable(output.readLine())
                .orElseThrow(() -> new AssertionError("the program ended by itself"));
    }

    /** Uses a mount namespace of its own, so that nothing stays mounted. */
    @Test
    void smallDiskThatIsFullThenReadOnlyThenRepairedCostsOnlyWhatIsReported() throws Exception {
        String script = "mount -t tmpfs -o size=400k tmpfs \"$0\" || exit 77; exec \"$@\" \"$0\"";
        Process program = start(
                List.of("unshare", "--mount", "--map-root-user", "sh", "-c", script, directory.toString()),
                SmallDiskProgram.class.getName(),
                directory);
        assertThat(program.waitFor(60, TimeUnit.SECONDS)).isTrue();
        Assumptions.assumeTrue(program.exitValue() != 77, "mounting is not permitted");
        assertThat(program.inputReader(US_ASCII).lines().toList()).containsExactly("all reported");
        assertThat(program.exitValue()).isZero();
    }

    /** Runs with its directory on a file system of 400 KiB. */
    static final class SmallDiskProgram {
        private final Path directory;
        private Outbox outbox;
        private final DeliveredEvents delivered = new DeliveredEvents();

        private SmallDiskProgram(Path directory) {
            this.directory = directory;
            this.outbox = OutboxKillProgram.open(directory, 5, 1 << 20);
        }

        /** Prints {@code all reported}, or ends by an exception. */
        public static void main(String[] arguments) throws Exception {
            var disk = new SmallDiskProgram(Path.of(arguments[0]));
            disk.fill();
            disk.readOnly();
            System.out.println("all reported");
        }

        private void add(Topic topic, int bytes) {
            EventType type = topic == Topic.TELEMETRY ? EventType.TELEMETRY_SAMPLED : EventType.FAULT_OBSERVED;
            outbox.add(type, topic, "GPU-0", new byte[bytes], new Moment(Instant.EPOCH, 0));
        }

        private void deliver() {
            for (var next = outbox.next(); next.isPresent(); next = outbox.next()) {
                next.flatMap(Outbox.OutgoingEvent::entry).ifPresent(delivered::take);
                outbox.acknowledge(next.get().queue(), next.get().after());
            }
        }

        private void fill() {
            for (int i = 0; i < 20; i++) {
                add(Topic.TELEMETRY, 8 * 1024);
            }
            // Given a full disk and full memory
            for (int i = 0; i < 150; i++) {
                add(Topic.HEALTH, 16 * 1024);
            }
            assertThat(outbox.diskBroken()).isTrue();
            assertThat(outbox.lost()).isPositive();
            // When the broker takes all remaining events
            deliver();
            add(Topic.HEALTH, 1024);
            add(Topic.TELEMETRY, 1024);
            // Then the disk is used again, and every event is delivered or reported lost
            assertThat(outbox.diskBroken()).isFalse();
            deliver();
            assertThat(delivered.unexplained()).isEmpty();
            assertThat(delivered.reportedLost()).isEqualTo(outbox.lost());
        }

        private void readOnly() throws Exception {
            add(Topic.HEALTH, 1024);
            // Given a start on a read-only disk; a file open for writing would prevent the remount
            outbox.close();
            remount("ro");
            outbox = OutboxKillProgram.open(directory, 6, 1 << 20);
            for (int i = 0; i < 100; i++) {
                add(Topic.HEALTH, 1024);
            }
            assertThat(outbox.diskBroken()).isTrue();
            // When it is writable again
            remount("rw");
            add(Topic.HEALTH, 1024);
            add(Topic.TELEMETRY, 1024);
            // Then all events are on it, those of the earlier start first
            assertThat(outbox.diskBroken()).isFalse();
            outbox.close();
            outbox = OutboxKillProgram.open(directory, 7, 1 << 20);
            var epochs = new ArrayList<Long>();
            for (var next = outbox.next(); next.isPresent(); next = outbox.next()) {
                epochs.add(
                        next.flatMap(Outbox.OutgoingEvent::entry).orElseThrow().epoch());
            }
            assertThat(epochs).isSorted().hasSize(103).startsWith(5L).endsWith(6L);
        }

        private void remount(String mode) throws Exception {
            var mount = new ProcessBuilder("mount", "-o", "remount," + mode, directory.toString()).start();
            assertThat(mount.waitFor()).isZero();
        }
    }
}
