package io.gpufleet.nodedaemon.kafka.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recovery of a queue after kill -9, after a power cut, and after damage of any byte. */
class OutboxQueueCrashTest {
    private static final int SEEDS = 2000;
    private static final int ACTS = 40;

    @TempDir(factory = MemoryDirectory.class)
    Path directory;

    private static byte[] record(int number) {
        return (number + "=" + "x".repeat(number * 7 % 23)).getBytes(UTF_8);
    }

    private static int number(byte[] record) {
        String text = new String(record, UTF_8);
        int number = Integer.parseInt(text.substring(0, text.indexOf('=')));
        assertThat(record).as("record is unchanged").isEqualTo(record(number));
        return number;
    }

    private static List<Integer> readAll(OutboxSegmentQueue queue) {
        var read = new ArrayList<Integer>();
        for (Optional<OutboxSegmentQueue.QueuedRecord> item = queue.next(); item.isPresent(); item = queue.next()) {
            read.add(number(item.get().record()));
        }
        return read;
    }

    /** A queue in use, and the records that it expectedRecords keep. */
    private static final class QueueUnderTest {
        private final FaultyDisk disk = new FaultyDisk();
        private final Path directory;
        private final Random random;
        private final Deque<OutboxSegmentQueue.QueuedRecord> inFlight = new ArrayDeque<>();
        private List<Integer> history = new ArrayList<>();
        private final Set<Integer> firstOfAStart = new HashSet<>();
        private int acked;
        private int durable;
        private int appended;
        private OutboxSegmentQueue queue;

        QueueUnderTest(Path directory, long seed) {
            this.directory = directory;
            this.random = new Random(seed);
            this.queue = open();
        }

        private OutboxSegmentQueue open() {
            firstOfAStart.add(appended);
            return new OutboxSegmentQueue(disk, directory, 90);
        }

        void act() throws IOException {
            switch (random.nextInt(10)) {
                case 0, 1, 2, 3 -> {
                    queue.append(record(appended));
                    history.add(appended++);
                }
                case 4, 5 -> queue.next().ifPresent(inFlight::add);
                case 6 -> {
                    if (!inFlight.isEmpty()) {
                        OutboxSegmentQueue.QueuedRecord item = inFlight.remove();
                        assertThat(number(item.record())).isEqualTo(history.get(acked));
                        queue.acknowledge(item.after());
                        acked++;
                    }
                }
                case 7 -> {
                    queue.force();
                    durable = history.size();
                }
                case 8 -> kill();
                default -> cutPower();
            }
        }

        private void kill() throws IOException {
            disk.kill();
            inFlight.clear();
            queue = open();
            assertThat(readAll(queue)).isEqualTo(history.subList(acked, history.size()));
            queue.rewind();
        }

        private void cutPower() throws IOException {
            disk.cutPower(random);
            inFlight.clear();
            queue = open();
            List<Integer> left = readAll(queue);
            boolean reported = queue.takeUnreadable() > 0;
            // Then flushed and unacknowledged records are there, in order, once
            List<Integer> expectedRecords = history.subList(acked, Math.max(acked, durable));
            assertThat(left).containsAll(expectedRecords).isSorted().doesNotHaveDuplicates();
            // and records are missing only at the end of an earlier start, unless the queue has reported unreadable
            // ranges
            if (!reported) {
                int expected = left.isEmpty() ? 0 : Math.min(acked, history.indexOf(left.getFirst()));
                for (int number : left) {
                    int index = history.indexOf(number);
                    assertThat(index == expected || firstOfAStart.contains(number))
                            .as(number + " after a gap")
                            .isTrue();
                    expected = index + 1;
                }
            }
            queue.rewind();
            history = left;
            acked = 0;
            durable = left.size();
        }
    }

    @Test
    void flushedRecordsAreNeverLostOrReordered() throws IOException {
        for (int seed = 0; seed < SEEDS; seed++) {
            Path own = Files.createDirectory(directory.resolve("seed-" + seed));
            var use = new QueueUnderTest(own, seed);
            try {
                for (int i = 0; i < ACTS; i++) {
                    use.act();
                }
                use.kill();
                use.disk.kill();
            } catch (AssertionError failed) {
                throw new AssertionError("seed " + seed, failed);
            }
        }
    }

    private List<Path> filled() throws IOException {
        Path original = Files.createDirectory(directory.resolve("original"));
        try (var queue = new OutboxSegmentQueue(OutboxDisk.REAL, original, 60)) {
            for (int i = 0; i < 12; i++) {
                queue.append(record(i));
            }
        }
        try (var files = Files.list(original)) {
            return files.sorted().toList();
        }
    }

    private OutboxSegmentQueue copyWith(List<Path> files, Path changed, byte[] content) throws IOException {
        Path copy = Files.createTempDirectory(directory, "copy");
        for (Path file : files) {
            Files.write(copy.resolve(file.getFileName()), file.equals(changed) ? content : Files.readAllBytes(file));
        }
        return new OutboxSegmentQueue(OutboxDisk.REAL, copy, 60);
    }

    @Test
    void segmentTruncatedAtAnyByteLosesOnlyTheRecordsAfterIt() throws IOException {
        List<Path> files = filled();
        for (Path file : files) {
            byte[] content = Files.readAllBytes(file);
            int count = -1;
            for (int length = 0; length <= content.length; length++) {
                try (OutboxSegmentQueue queue = copyWith(files, file, java.util.Arrays.copyOf(content, length))) {
                    // Then whole records are read, in order, and never fewer from a longer file
                    List<Integer> left = readAll(queue);
                    assertThat(left).isSorted().hasSizeGreaterThanOrEqualTo(count);
                    count = left.size();
                    // and the queue continues after them
                    queue.append(record(12));
                    assertThat(readAll(queue)).containsExactly(12);
                }
            }
            assertThat(count).isEqualTo(12);
        }
    }

    @Test
    void damagedByteNeverYieldsAWrongRecord() throws IOException {
        List<Path> files = filled();
        assertThat(files).hasSizeGreaterThan(2);
        for (Path file : files) {
            byte[] content = Files.readAllBytes(file);
            for (int index = 0; index < content.length; index++) {
                byte[] broken = content.clone();
                broken[index] ^= (byte) (1 << index % 8);
                try (OutboxSegmentQueue queue = copyWith(files, file, broken)) {
                    List<Integer> left = readAll(queue);
                    var missing = new ArrayList<Integer>();
                    for (int i = 0; i < 12; i++) {
                        if (!left.contains(i)) {
                            missing.add(i);
                        }
                    }
                    assertThat(left).isSorted().doesNotHaveDuplicates();
                    assertThat(missing).isNotEmpty();
                    boolean newestSegment = file.equals(files.getLast());
                    assertThat(queue.takeUnreadable() > 0 || newestSegment).isTrue();
                }
            }
        }
    }
}
