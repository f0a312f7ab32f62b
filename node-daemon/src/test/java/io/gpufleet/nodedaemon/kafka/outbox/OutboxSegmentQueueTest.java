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

    private static List<String> readAll(OutboxSegmentQueue lane) {
        var read = new ArrayList<String>();
        for (Optional<OutboxSegmentQueue.QueuedRecord> item = lane.next(); item.isPresent(); item = lane.next()) {
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
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 64);
        for (int i = 0; i < 20; i++) {
            lane.append(bytes("record " + i));
        }

        assertThat(readAll(lane)).hasSize(20).startsWith("record 0").endsWith("record 19");
        assertThat(lane.hasUnread()).isFalse();
    }

    @Test
    void whatIsNotAcknowledgedIsThereAfterARestart() {
        // Given a lane of which half was acknowledged, and which nobody closed
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 64);
        for (int i = 0; i < 10; i++) {
            lane.append(bytes("record " + i));
        }
        for (int i = 0; i < 5; i++) {
            lane.next().ifPresent(item -> lane.acknowledge(item.after()));
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
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 64);
        for (int i = 0; i < 100; i++) {
            lane.append(bytes("record " + i));
        }
        int before = segments().size();
        for (int i = 0; i < 100; i++) {
            lane.next().ifPresent(item -> lane.acknowledge(item.after()));
        }

        assertThat(before).isGreaterThan(10);
        assertThat(segments()).hasSizeLessThanOrEqualTo(1);
        assertThat(lane.bytes()).isLessThanOrEqualTo(128);
    }

    @Test
    void acknowledgedQueueStaysEmptyAfterARestartAndTakesNewRecords() {
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 16);
        lane.append(bytes("a long enough record"));
        lane.next().ifPresent(item -> lane.acknowledge(item.after()));

        var reopened = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 16);
        assertThat(reopened.hasUnread()).isFalse();
        reopened.append(bytes("new"));
        assertThat(readAll(reopened)).containsExactly("new");
        assertThat(readAll(new OutboxSegmentQueue(OutboxDisk.REAL, directory, 16)))
                .containsExactly("new");
    }

    @Test
    void rewindReadsAgainFromWhatIsNotAcknowledged() {
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 64);
        lane.append(bytes("a"));
        lane.append(bytes("b"));
        lane.next().ifPresent(item -> lane.acknowledge(item.after()));
        assertThat(readAll(lane)).containsExactly("b");

        lane.rewind();

        assertThat(readAll(lane)).containsExactly("b");
    }

    @Test
    void recordCutOffByACrashIsLeftOut() throws IOException {
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1024);
        lane.append(bytes("whole"));
        lane.append(bytes("cut off in the middle"));
        try (var file = new RandomAccessFile(segments().getFirst().toFile(), "rw")) {
            file.setLength(file.length() - 5);
        }

        var reopened = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1024);
        reopened.append(bytes("after"));

        assertThat(readAll(reopened)).containsExactly("whole", "after");
    }

    @Test
    void recordThatDoesNotCheckIsLeftOutAndCounted() throws IOException {
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1024);
        lane.append(bytes("first"));
        lane.append(bytes("second"));
        lane.append(bytes("third"));
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

        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1024);

        assertThat(lane.diskBroken()).isFalse();
        assertThat(readAll(lane)).containsExactly("ours");
        assertThat(foreign).hasContent("theirs");
    }

    @Test
    void droppingTheOldestGivesUpWhatWasNotAcknowledged() {
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, directory, 1);
        lane.append(bytes("a"));
        lane.append(bytes("b"));
        lane.append(bytes("c"));

        assertThat(lane.dropOldest().orElseThrow())
                .extracting(record -> new String(record, UTF_8))
                .containsExactly("a");
        assertThat(readAll(lane)).containsExactly("b", "c");
    }

    @Test
    void queueWithoutADiskKeepsRecordsInMemoryAsManyAsFit() throws IOException {
        Path file = Files.writeString(directory.resolve("not-a-directory"), "");
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, file, 1024);

        lane.append(bytes("a"));
        lane.append(bytes("b"));

        assertThat(lane.diskBroken()).isTrue();
        lane.next().ifPresent(item -> lane.acknowledge(item.after()));
        lane.rewind();
        assertThat(readAll(lane)).containsExactly("b");
        for (int i = 0; i < 40; i++) {
            lane.append(new byte[64 * 1024]);
        }
        assertThat(lane.isMemoryFull()).isTrue();
        while (lane.isMemoryFull()) {
            assertThat(lane.dropOldestInMemory()).isNotEmpty();
        }
        assertThat(lane.bytes()).isBetween(900L * 1024, 1024L * 1024);
    }

    @Test
    void queueThatGetsItsDiskBackKeepsTheOrder() throws IOException {
        // Given a queue whose directory cannot be created
        Path place = Files.writeString(directory.resolve("place"), "");
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, place, 1024);
        lane.append(bytes("in memory"));

        // When the disk comes back while a record waits in memory
        Files.delete(place);
        Files.createDirectory(place);
        lane.append(bytes("behind it"));

        // Then both are on the disk, for this start and for the next
        assertThat(lane.diskBroken()).isFalse();
        assertThat(readAll(lane)).containsExactly("in memory", "behind it");
        assertThat(readAll(new OutboxSegmentQueue(OutboxDisk.REAL, place, 1024)))
                .containsExactly("in memory", "behind it");
    }

    private static final Path SCRATCH = scratch();

    private static Path scratch() {
        try {
            return Files.createTempDirectory("lane");
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
        // Given a queue that is surely right, and a lane
        Deque<String> waiting = new ArrayDeque<>();
        Deque<OutboxSegmentQueue.QueuedRecord> underWay = new ArrayDeque<>();
        var lane = new OutboxSegmentQueue(OutboxDisk.REAL, SCRATCH, 40);
        int number = 0;

        for (QueueAction act : acts) {
            switch (act) {
                case APPEND -> {
                    lane.append(bytes("r" + number));
                    waiting.add("r" + number++);
                }
                case NEXT -> lane.next().ifPresent(underWay::add);
                case ACKNOWLEDGE -> {
                    if (!underWay.isEmpty()) {
                        OutboxSegmentQueue.QueuedRecord item = underWay.remove();
                        lane.acknowledge(item.after());
                        assertThat(new String(item.record(), UTF_8)).isEqualTo(waiting.remove());
                    }
                }
                case REWIND -> {
                    lane.rewind();
                    underWay.clear();
                }
                case RESTART -> {
                    lane = new OutboxSegmentQueue(OutboxDisk.REAL, SCRATCH, 40);
                    underWay.clear();
                }
            }
        }

        // Then what was not acknowledged comes out, in order
        lane.rewind();
        assertThat(readAll(lane)).containsExactlyElementsOf(waiting);
    }
}
