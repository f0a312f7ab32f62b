package io.gpufleet.nodedaemon.kafka;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Moment;
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

/** An outbox in a process that is killed; {@code -Dgpufleet.kills=500} is the long drill. */
class OutboxKillIT {
    private static final int KILLS = Integer.getInteger("gpufleet.kills", 12);

    @TempDir
    Path directory;

    private final Set<String> kept = new LinkedHashSet<>();
    private final Set<String> perhapsForgotten = new HashSet<>();
    private final Set<String> forgotten = new HashSet<>();
    private final Map<String, Long> highest = new TreeMap<>();
    private long epoch;
    private int keptInAll;

    private static Process start(List<String> before, String program, Path directory) throws IOException {
        var command = new ArrayList<>(before);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                program,
                directory.toString()));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    @Test
    void killsLoseNothingThatWasKeptAndNumberNothingTwice() throws Exception {
        var random = new Random();
        for (int kill = 0; kill < KILLS; kill++) {
            Process drill = start(List.of(), OutboxDrill.class.getName(), directory);
            try (BufferedReader said = drill.inputReader(US_ASCII)) {
                begin(said);
                listen(said, drill, random.nextInt(1, 2_000));
            } finally {
                drill.destroyForcibly().waitFor();
            }
        }
        assertThat(keptInAll).isGreaterThan(KILLS * 10);
    }

    /** What a start finds is what was kept and not forgotten; one event more may have been kept unsaid. */
    private void begin(BufferedReader said) throws IOException {
        List<String> found = new ArrayList<>();
        String line = line(said);
        while (line.startsWith("S ")) {
            found.add(line.substring(2));
            line = line(said);
        }
        long newEpoch = Long.parseLong(line.substring("R ".length()));
        assertThat(newEpoch).as("epochs grow").isGreaterThan(epoch);

        assertThat(found).doesNotHaveDuplicates().noneMatch(forgotten::contains);
        Set<String> must = new LinkedHashSet<>(kept);
        must.removeAll(perhapsForgotten);
        assertThat(found).containsAll(must);
        Set<String> unsaid = new HashSet<>(found);
        unsaid.removeAll(kept);
        assertThat(unsaid).hasSizeLessThanOrEqualTo(1);
        highest.clear();
        found.forEach(this::follows);
        epoch = newEpoch;
        kept.clear();
        kept.addAll(found);
        perhapsForgotten.clear();
        forgotten.clear();
    }

    /** Numbers of one topic and epoch come in order and without a gap. */
    private void follows(String id) {
        int slash = id.lastIndexOf('/');
        long number = Long.parseLong(id.substring(slash + 1));
        Long before = highest.put(id.substring(0, slash), number);
        assertThat(before == null || number == before + 1).as(id).isTrue();
    }

    private void listen(BufferedReader said, Process drill, int lines) throws IOException {
        for (int heard = 0; ; heard++) {
            if (heard == lines) {
                // Not by the process itself, which would close its output.
                drill.toHandle().destroyForcibly();
            }
            Optional<String> line = Optional.ofNullable(said.readLine());
            // The last line may be cut off; it is then as if it had not been said.
            if (line.isEmpty() || !line.get().matches("[AFG] [a-z-]+/\\d+/\\d+")) {
                return;
            }
            String id = line.get().substring(2);
            switch (line.get().charAt(0)) {
                case 'A' -> {
                    assertThat(kept.add(id)).as(id + " is given once").isTrue();
                    keptInAll++;
                }
                case 'F' -> perhapsForgotten.add(id);
                default -> forgotten.add(id);
            }
        }
    }

    private static String line(BufferedReader said) throws IOException {
        return Optional.ofNullable(said.readLine()).orElseThrow(() -> new AssertionError("the drill ended by itself"));
    }

    /** In a mount namespace of its own, so that nothing is left mounted whatever happens. */
    @Test
    void smallDiskThatIsFullReadOnlyAndWellAgainCostsOnlyWhatIsTold() throws Exception {
        String script = "mount -t tmpfs -o size=400k tmpfs \"$0\" || exit 77; exec \"$@\" \"$0\"";
        Process drill = start(
                List.of("unshare", "--mount", "--map-root-user", "sh", "-c", script, directory.toString()),
                SmallDisk.class.getName(),
                directory);
        assertThat(drill.waitFor(60, TimeUnit.SECONDS)).isTrue();
        Assumptions.assumeTrue(drill.exitValue() != 77, "this user may not mount");
        assertThat(drill.inputReader(US_ASCII).lines().toList()).containsExactly("all is told");
        assertThat(drill.exitValue()).isZero();
    }

    /** Runs where its directory is a file system of 400 KiB. */
    static final class SmallDisk {
        private final Path directory;
        private Outbox outbox;
        private final Delivered delivered = new Delivered();

        private SmallDisk(Path directory) {
            this.directory = directory;
            this.outbox = OutboxDrill.open(directory, 5, 1 << 20);
        }

        /** Says {@code all is told}, or ends by an exception. */
        public static void main(String[] arguments) throws Exception {
            var disk = new SmallDisk(Path.of(arguments[0]));
            disk.fill();
            disk.readOnly();
            System.out.println("all is told");
        }

        private void add(Topic topic, int bytes) {
            EventType type = topic == Topic.TELEMETRY ? EventType.TELEMETRY_SAMPLED : EventType.FAULT_OBSERVED;
            outbox.add(type, topic, "GPU-0", new byte[bytes], new Moment(Instant.EPOCH, 0));
        }

        private void deliver() {
            for (var next = outbox.next(); next.isPresent(); next = outbox.next()) {
                next.flatMap(Outbox.Outgoing::entry).ifPresent(delivered::take);
                outbox.acknowledge(next.get().lane(), next.get().after());
            }
        }

        private void fill() {
            for (int i = 0; i < 20; i++) {
                add(Topic.TELEMETRY, 8 * 1024);
            }
            // Given a disk that is full, and more than memory takes beside it
            for (int i = 0; i < 150; i++) {
                add(Topic.HEALTH, 16 * 1024);
            }
            assertThat(outbox.diskBroken()).isTrue();
            assertThat(outbox.lost()).isPositive();
            // When the broker takes what is left
            deliver();
            add(Topic.HEALTH, 1024);
            add(Topic.TELEMETRY, 1024);
            // Then the disk is used again, and every event came or is told lost
            assertThat(outbox.diskBroken()).isFalse();
            deliver();
            assertThat(delivered.unexplained()).isEmpty();
            assertThat(delivered.toldLost()).isEqualTo(outbox.lost());
        }

        private void readOnly() throws Exception {
            add(Topic.HEALTH, 1024);
            // Given a start on a disk that can only be read; a file that is open for writing would keep it writable
            outbox.close();
            remount("ro");
            outbox = OutboxDrill.open(directory, 6, 1 << 20);
            for (int i = 0; i < 100; i++) {
                add(Topic.HEALTH, 1024);
            }
            assertThat(outbox.diskBroken()).isTrue();
            // When it is well again
            remount("rw");
            add(Topic.HEALTH, 1024);
            add(Topic.TELEMETRY, 1024);
            // Then everything is on it, that of the earlier start first
            assertThat(outbox.diskBroken()).isFalse();
            outbox.close();
            outbox = OutboxDrill.open(directory, 7, 1 << 20);
            var epochs = new ArrayList<Long>();
            for (var next = outbox.next(); next.isPresent(); next = outbox.next()) {
                epochs.add(next.flatMap(Outbox.Outgoing::entry).orElseThrow().epoch());
            }
            assertThat(epochs).isSorted().hasSize(103).startsWith(5L).endsWith(6L);
        }

        private void remount(String mode) throws Exception {
            var mount = new ProcessBuilder("mount", "-o", "remount," + mode, directory.toString()).start();
            assertThat(mount.waitFor()).isZero();
        }
    }
}
