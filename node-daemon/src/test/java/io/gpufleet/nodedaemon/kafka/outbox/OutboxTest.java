package io.gpufleet.nodedaemon.kafka.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.nodedaemon.kafka.EpochFile;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutboxTest {
    private static final Moment NOW = new Moment(Instant.parse("2026-11-20T10:00:00Z"), 7);

    @TempDir(factory = MemoryDirectory.class)
    Path directory;

    private Outbox outbox(long epoch, long bytes) {
        return outbox(OutboxDisk.REAL, directory, epoch, bytes);
    }

    private static Outbox outbox(OutboxDisk disk, Path directory, long epoch, long bytes) {
        return new Outbox(disk, directory, "boot-1", bytes, epoch);
    }

    private static void add(Outbox outbox, Topic topic, int bytes) {
        EventType type = topic == Topic.TELEMETRY ? EventType.TELEMETRY_SAMPLED : EventType.FAULT_OBSERVED;
        outbox.add(type, topic, "GPU-0", new byte[bytes], NOW);
    }

    private static List<OutboxEntry> readAll(Outbox outbox) {
        var entries = new ArrayList<OutboxEntry>();
        for (var next = outbox.next(); next.isPresent(); next = outbox.next()) {
            next.flatMap(Outbox.OutgoingEvent::entry).ifPresent(entries::add);
        }
        return entries;
    }

    @Test
    void sequencesCountFromOneOnEachTopic() {
        Outbox outbox = outbox(5, 1 << 20);
        add(outbox, Topic.HEALTH, 10);
        add(outbox, Topic.TELEMETRY, 10);
        add(outbox, Topic.HEALTH, 10);

        assertThat(readAll(outbox))
                .extracting(entry -> entry.topic() + " " + entry.epoch() + " " + entry.sequence())
                .containsExactly("HEALTH 5 1", "HEALTH 5 2", "TELEMETRY 5 1");
    }

    @Test
    void eventsOfAnEarlierStartKeepTheirEpoch() {
        add(outbox(5, 1 << 20), Topic.HEALTH, 10);
        Outbox next = outbox(6, 1 << 20);
        add(next, Topic.HEALTH, 10);

        assertThat(readAll(next)).extracting(OutboxEntry::epoch).containsExactly(5L, 6L);
    }

    @Test
    void diskIsFlushedOnlyWhereSomethingWasWritten() throws IOException {
        var disk = new FaultyDisk();
        Outbox outbox = outbox(disk, directory, 5, 1 << 20);
        add(outbox, Topic.HEALTH, 10);
        outbox.force();
        int flushed = disk.flushes();
        assertThat(flushed).isPositive();

        // A daemon at rest must not empty the cache of the node's disk every second
        outbox.force();
        outbox.force();
        assertThat(disk.flushes()).isEqualTo(flushed);

        add(outbox, Topic.HEALTH, 10);
        outbox.force();
        assertThat(disk.flushes()).isEqualTo(flushed + 1);
    }

    @Test
    void flushThatFailedIsRepeated() throws IOException {
        var disk = new FaultyDisk();
        Outbox outbox = outbox(disk, directory, 5, 1 << 20);
        add(outbox, Topic.HEALTH, 10);
        disk.fail();
        assertThatThrownBy(outbox::force).isInstanceOf(IOException.class);

        disk.repair();
        int flushed = disk.flushes();
        outbox.force();
        assertThat(disk.flushes()).isEqualTo(flushed + 1);
    }

    @Test
    void telemetryIsDroppedFirstWhenTheOutboxIsFull() {
        Outbox outbox = outbox(5, 64 * 1024);
        for (int i = 0; i < 10; i++) {
            add(outbox, Topic.HEALTH, 1024);
            add(outbox, Topic.TELEMETRY, 8 * 1024);
        }

        List<OutboxEntry> left = readAll(outbox);
        assertThat(left.stream().filter(entry -> entry.type() == EventType.FAULT_OBSERVED))
                .hasSize(10);
        assertThat(left.stream().filter(entry -> entry.type() == EventType.TELEMETRY_SAMPLED))
                .hasSizeLessThan(10);
        assertThat(outbox.bytes()).isLessThanOrEqualTo(64 * 1024);
    }

    @Test
    void lossesAreReportedOnTheTopicThatLost() {
        // Given a very small outbox
        Outbox outbox = outbox(5, 64 * 1024);

        // When more facts are added than fit
        for (int i = 0; i < 100; i++) {
            add(outbox, Topic.HEALTH, 2 * 1024);
        }

        // Then the oldest are dropped, and every gap of the sequence is reported
        List<OutboxEntry> left = readAll(outbox);
        assertThat(outbox.lost()).isPositive();
        assertThat(outbox.takeLost()).isTrue();
        assertThat(outbox.takeLost()).isFalse();
        var newest = left.stream()
                .filter(entry -> entry.type() == EventType.EVENTS_LOST)
                .reduce((a, b) -> b)
                .map(DeliveredEvents::message);
        assertThat(newest).isPresent();
        long firstFact = left.stream()
                .filter(entry -> entry.type() == EventType.FAULT_OBSERVED)
                .mapToLong(OutboxEntry::sequence)
                .min()
                .orElseThrow();
        assertThat(newest.map(EventsLost::getEpoch)).contains(5L);
        assertThat(newest.map(EventsLost::getToSequence)).contains(firstFact - 1);
    }

    @Test
    void lostLossReportIsReportedAgain() {
        // Given an outbox that also drops its own loss reports
        Outbox outbox = outbox(5, 64 * 1024);
        for (int i = 0; i < 500; i++) {
            add(outbox, Topic.HEALTH, 2 * 1024);
        }

        var delivered = new DeliveredEvents();
        readAll(outbox).forEach(delivered::take);

        assertThat(delivered.reportedLost()).isEqualTo(outbox.lost());
        assertThat(delivered.unexplained()).isEmpty();
    }

    @Test
    void recordsWaitInMemoryWhileTheDiskFailsAndMoveToItAfterwards() {
        var disk = new FaultyDisk();
        Outbox outbox = outbox(disk, directory, 5, 1 << 20);
        add(outbox, Topic.HEALTH, 10);

        // Given a disk that fails for a while, with one event in flight
        disk.fail();
        add(outbox, Topic.HEALTH, 11);
        add(outbox, Topic.HEALTH, 12);
        assertThat(outbox.diskBroken()).isTrue();
        disk.repair();
        var first = outbox.next().orElseThrow();
        var second = outbox.next().orElseThrow();

        // When it works again, and that event is acknowledged
        add(outbox, Topic.TELEMETRY, 13);
        outbox.acknowledge(first.queue(), first.after());
        outbox.acknowledge(second.queue(), second.after());

        // Then a restart finds only the rest
        assertThat(outbox.diskBroken()).isFalse();
        assertThat(readAll(outbox(6, 1 << 20)))
                .extracting(entry -> entry.topic() + " " + entry.sequence())
                .containsExactly("HEALTH 3", "TELEMETRY 1");
    }

    @Test
    void diskThatFillsUpInTheMiddleOfARecordLosesNothing() {
        var disk = new FaultyDisk();
        Outbox outbox = outbox(disk, directory, 5, 1 << 20);
        disk.fillUpAfter(1000);
        for (int i = 0; i < 10; i++) {
            add(outbox, Topic.HEALTH, 100);
        }
        assertThat(outbox.diskBroken()).isTrue();
        assertThat(readAll(outbox)).hasSize(10);

        disk.repair();
        add(outbox, Topic.HEALTH, 100);

        assertThat(readAll(outbox(6, 1 << 20)))
                .extracting(OutboxEntry::sequence)
                .containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L);
    }

    @Test
    void fullMemoryDropsTheOldestAndReportsIt() {
        var disk = new FaultyDisk();
        disk.fail();
        Outbox outbox = outbox(disk, directory, 5, 1 << 20);

        for (int i = 0; i < 40; i++) {
            add(outbox, Topic.HEALTH, 64 * 1024);
        }

        var delivered = new DeliveredEvents();
        readAll(outbox).forEach(delivered::take);
        assertThat(outbox.lost()).isGreaterThan(20);
        assertThat(outbox.bytes()).isLessThan(1200 * 1024);
        assertThat(delivered.unexplained()).isEmpty();
    }

    @Test
    void outboxOpenedOnAFailingDiskLoadsItsSegmentsLater() throws IOException {
        // Given events of an earlier start on a failing disk
        add(outbox(5, 1 << 20), Topic.HEALTH, 10);
        var disk = new FaultyDisk();
        disk.fail();
        Outbox outbox = outbox(disk, directory, 6, 1 << 20);
        add(outbox, Topic.HEALTH, 10);

        disk.repair();
        add(outbox, Topic.HEALTH, 10);

        assertThat(readAll(outbox))
                .extracting(entry -> entry.epoch() + " " + entry.sequence())
                .containsExactly("5 1", "6 1", "6 2");
    }

    /** Uses the outbox like the publisher, while the disk fails and recovers. */
    private static void use(Outbox outbox, FaultyDisk disk, Random random, DeliveredEvents delivered) {
        var underWay = new ArrayDeque<Outbox.OutgoingEvent>();
        for (int act = 0; act < 120; act++) {
            switch (random.nextInt(12)) {
                case 0 -> disk.fail();
                case 1 -> disk.fillUpAfter(random.nextInt(200_000));
                case 2 -> disk.repair();
                case 3 -> {
                    outbox.rewind();
                    underWay.clear();
                }
                case 4, 5 -> outbox.next().ifPresent(underWay::add);
                case 6 -> {
                    if (!underWay.isEmpty()) {
                        Outbox.OutgoingEvent sent = underWay.remove();
                        sent.entry().ifPresent(delivered::take);
                        outbox.acknowledge(sent.queue(), sent.after());
                    }
                }
                default -> add(outbox, random.nextInt(3) == 0 ? Topic.TELEMETRY : Topic.HEALTH, random.nextInt(90_000));
            }
        }
    }

    @Test
    void everySequenceArrivesOrIsReportedLostWhateverTheDiskDoes() throws IOException {
        for (int seed = 0; seed < 300; seed++) {
            var disk = new FaultyDisk();
            var delivered = new DeliveredEvents();
            Path own = Files.createDirectory(directory.resolve("seed-" + seed));
            try (Outbox outbox = outbox(disk, own, 5, 1536 * 1024)) {
                use(outbox, disk, new Random(seed), delivered);

                disk.repair();
                add(outbox, Topic.HEALTH, 1);
                add(outbox, Topic.TELEMETRY, 1);
                outbox.rewind();
                readAll(outbox).forEach(delivered::take);

                assertThat(outbox.diskBroken()).as("seed " + seed).isFalse();
                assertThat(delivered.unexplained()).as("seed " + seed).isEmpty();
            }
        }
    }

    @Test
    void entryRoundTrips() {
        var entry = new OutboxEntry(
                Topic.HEALTH,
                EventType.FAULT_OBSERVED,
                "GPU-0",
                12,
                34,
                Instant.parse("2026-11-20T10:00:00.123456789Z"),
                -5,
                "{\"ä\":1}".getBytes(java.nio.charset.StandardCharsets.UTF_8));

        OutboxEntry read = OutboxEntry.decode(entry.encode());

        assertThat(read).usingRecursiveComparison().isEqualTo(entry);
    }

    @Test
    void epochGrowsWhenTheClockIsSetBack() {
        long first = EpochFile.next(directory, 1_000_000);
        long second = EpochFile.next(directory, 500_000);
        long third = EpochFile.next(directory, 2_000_000);

        assertThat(List.of(first, second, third)).containsExactly(1_000_000L, 1_000_001L, 2_000_000L);
    }

    @Test
    void epochIsTheClockIfTheFileCannotBeWritten() {
        assertThat(EpochFile.next(Path.of("/proc/no-such-directory"), 1_000_000))
                .isEqualTo(1_000_000);
    }
}
