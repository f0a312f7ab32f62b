package io.gpufleet.nodedaemon.kafka.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterTry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutboxSegmentQueueTest {
    @TempDir
    Path directory;

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static List<String> readAll(OutboxSegmentQueue queue) {
        var read = new ArrayList<String>();
        for (Optional<OutboxSegmentQueue.QueuedRecord> item = queue.next(); item.isPresent(); item = queue.next()) {
            read.add(new String(item.get().record(), UTF_8));
        }
        return read;
    }

    private List<Path> segments() throws IOException {
        try (var files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(LogSegment.SUFFIX))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void recordsComeOutAsTheyWentIn() {
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 64);
        for (int i = 0; i < 20; i++) {
            queue.append(bytes("record " + i));
        }

        assertThat(readAll(queue)).hasSize(20).startsWith("record 0").endsWith("record 19");
        assertThat(queue.hasUnread()).isFalse();
    }

    @Test
    void whatIsNotAcknowledgedIsThereAfterARestart() {
        // Given a queue of which half was acknowledged, and which nobody closed
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 64);
        for (int i = 0; i < 10; i++) {
            queue.append(bytes("record " + i));
        }
        for (int i = 0; i < 5; i++) {
            queue.next().ifPresent(item -> queue.acknowledge(item.after()));
        }

        // When another process opens it
        var reopened = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 64);

        // Then the rest is read, and new records follow it
        reopened.append(bytes("new"));
        assertThat(readAll(reopened))
                .containsExactly("record 5", "record 6", "record 7", "record 8", "record 9", "new");
    }

    @Test
    void acknowledgedSegmentsAreDeleted() throws IOException {
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 64);
        for (int i = 0; i < 100; i++) {
            queue.append(bytes("record " + i));
        }
        int before = segments().size();
        for (int i = 0; i < 100; i++) {
            queue.next().ifPresent(item -> queue.acknowledge(item.after()));
        }

        assertThat(before).isGreaterThan(10);
        assertThat(segments()).hasSizeLessThanOrEqualTo(1);
        assertThat(queue.bytes()).isLessThanOrEqualTo(128);
    }

    @Test
    void acknowledgedQueueStaysEmptyAfterARestartAndTakesNewRecords() {
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 16);
        queue.append(bytes("a long enough record"));
        queue.next().ifPresent(item -> queue.acknowledge(item.after()));

        var reopened = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 16);
        assertThat(reopened.hasUnread()).isFalse();
        reopened.append(bytes("new"));
        assertThat(readAll(reopened)).containsExactly("new");
        assertThat(readAll(new OutboxSegmentQueue(OutboxDisk.REAL, directory, 16)))
                .containsExactly("new");
    }

    @Test
    void rewindReadsAgainFromWhatIsNotAcknowledged() {
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 64);
        queue.append(bytes("a"));
        queue.append(bytes("b"));
        queue.next().ifPresent(item -> queue.acknowledge(item.after()));
        assertThat(readAll(queue)).containsExactly("b");

        queue.rewind();

        assertThat(readAll(queue)).containsExactly("b");
    }

    @Test
    void recordCutOffByACrashIsLeftOut() throws IOException {
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1024);
        queue.append(bytes("whole"));
        queue.append(bytes("cut off in the middle"));
        try (var file = new RandomAccessFile(segments().getFirst().toFile(), "rw")) {
            file.setLength(file.length() - 5);
        }

        var reopened = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1024);
        reopened.append(bytes("after"));

        assertThat(readAll(reopened)).containsExactly("whole", "after");
    }

    @Test
    void recordThatDoesNotCheckIsLeftOutAndCounted() throws IOException {
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1024);
        queue.append(bytes("first"));
        queue.append(bytes("second"));
        queue.append(bytes("third"));
        try (var file = new RandomAccessFile(segments().getFirst().toFile(), "rw")) {
            file.seek(8 + 5 + 8);
            file.write('X');
        }

        var reopened = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1024);
        assertThat(readAll(reopened)).containsExactly("first", "third");
        assertThat(reopened.takeUnreadable()).isEqualTo(1);
        reopened.rewind();
        assertThat(readAll(reopened)).containsExactly("first", "third");
        assertThat(reopened.takeUnreadable()).isZero();
    }

    @Test
    void fileOfSomebodyElseIsLeftAlone() throws IOException {
        new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1024).append(bytes("ours"));
        Path foreign = Files.writeString(directory.resolve("notes.outbox"), "theirs");

        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1024);

        assertThat(queue.diskBroken()).isFalse();
        assertThat(readAll(queue)).containsExactly("ours");
        assertThat(foreign).hasContent("theirs");
    }

    @Test
    void droppingTheOldestGivesUpWhatWasNotAcknowledged() {
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1);
        queue.append(bytes("a"));
        queue.append(bytes("b"));
        queue.append(bytes("c"));

        assertThat(queue.dropOldest().orElseThrow())
                .extracting(record -> new String(record, UTF_8))
                .containsExactly("a");
        assertThat(readAll(queue)).containsExactly("b", "c");
    }

    @Test
    void queueWithoutADiskKeepsRecordsInMemoryAsManyAsFit() throws IOException {
        Path file = Files.writeString(directory.resolve("not-a-directory"), "");
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, file, 1024);

        queue.append(bytes("a"));
        queue.append(bytes("b"));

        assertThat(queue.diskBroken()).isTrue();
        queue.next().ifPresent(item -> queue.acknowledge(item.after()));
        queue.rewind();
        assertThat(readAll(queue)).containsExactly("b");
        for (int i = 0; i < 40; i++) {
            queue.append(new byte[64 * 1024]);
        }
        assertThat(queue.isMemoryFull()).isTrue();
        while (queue.isMemoryFull()) {
            assertThat(queue.dropOldestInMemory()).isNotEmpty();
        }
        assertThat(queue.bytes()).isBetween(900L * 1024, 1024L * 1024);
    }

    @Test
    void queueThatGetsItsDiskBackKeepsTheOrder() throws IOException {
        // Given a queue whose directory cannot be created
        Path place = Files.writeString(directory.resolve("place"), "");
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, place, 1024);
        queue.append(bytes("in memory"));

        // When the disk comes back while a record waits in memory
        Files.delete(place);
        Files.createDirectory(place);
        queue.append(bytes("behind it"));

        // Then both are on the disk, for this start and for the next
        assertThat(queue.diskBroken()).isFalse();
        assertThat(readAll(queue)).containsExactly("in memory", "behind it");
        assertThat(readAll(new OutboxSegmentQueue(OutboxDisk.REAL, place, 1024)))
                .containsExactly("in memory", "behind it");
    }

    private static final Path SCRATCH = scratch();

    private static Path scratch() {
        try {
            return Files.createTempDirectory("queue");
        } catch (IOException impossible) {
            throw new java.io.UncheckedIOException(impossible);
        }
    }

    @AfterTry
    void sweep() throws IOException {
        try (var files = Files.list(SCRATCH)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }

    private enum QueueAction {
        APPEND,
        NEXT,
        ACKNOWLEDGE,
        REWIND,
        RESTART
    }

    @Provide
    Arbitrary<List<QueueAction>> acts() {
        return Arbitraries.of(QueueAction.values()).list().ofMaxSize(120);
    }

    @Property(tries = 300)
    void queueKeepsItsOrderUnderRewindsAndRestarts(@ForAll("acts") List<QueueAction> acts) {
        // Given a list that is surely right, and a queue
        Deque<String> waiting = new ArrayDeque<>();
        Deque<OutboxSegmentQueue.QueuedRecord> underWay = new ArrayDeque<>();
        var queue = new OutboxSegmentQueue(OutboxDisk.REAL, SCRATCH, 40);
        int number = 0;

        for (QueueAction act : acts) {
            switch (act) {
                case APPEND -> {
                    queue.append(bytes("r" + number));
                    waiting.add("r" + number++);
                }
                case NEXT -> queue.next().ifPresent(underWay::add);
                case ACKNOWLEDGE -> {
                    if (!underWay.isEmpty()) {
                        OutboxSegmentQueue.QueuedRecord item = underWay.remove();
                        queue.acknowledge(item.after());
                        assertThat(new String(item.record(), UTF_8)).isEqualTo(waiting.remove());
                    }
                }
                case REWIND -> {
                    queue.rewind();
                    underWay.clear();
                }
                case RESTART -> {
                    queue = new OutboxSegmentQueue(OutboxDisk.REAL, SCRATCH, 40);
                    underWay.clear();
                }
            }
        }

        // Then what was not acknowledged comes out, in order
        queue.rewind();
        assertThat(readAll(queue)).containsExactlyElementsOf(waiting);
    }
}
