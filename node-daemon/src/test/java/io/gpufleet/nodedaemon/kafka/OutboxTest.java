package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Moment;
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

    @TempDir
    Path directory;

    private Outbox outbox(long epoch, long bytes) {
        return outbox(Disk.REAL, directory, epoch, bytes);
    }

    private static Outbox outbox(Disk disk, Path place, long epoch, long bytes) {
        return new Outbox(
                disk, place, new BusSettings("localhost:1", "c1", "gpu.", "n1", "boot-1", place, bytes), epoch);
    }

    private static void add(Outbox outbox, Topic topic, int bytes) {
        EventType type = topic == Topic.TELEMETRY ? EventType.TELEMETRY_SAMPLED : EventType.FAULT_OBSERVED;
        outbox.add(type, topic, "GPU-0", new byte[bytes], NOW);
    }

    private static List<OutboxEntry> readAll(Outbox outbox) {
        var entries = new ArrayList<OutboxEntry>();
        for (var next = outbox.next(); next.isPresent(); next = outbox.next()) {
            next.flatMap(Outbox.Outgoing::entry).ifPresent(entries::add);
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
    void telemetryGoesFirstWhenThereIsNoRoom() {
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
    void lossesAreToldOnTheTopicThatLost() {
        // Given an outbox that is far too small
        Outbox outbox = outbox(5, 64 * 1024);

        // When more facts wait than fit
        for (int i = 0; i < 100; i++) {
            add(outbox, Topic.HEALTH, 2 * 1024);
        }

        // Then the oldest are gone, and every gap of the sequence is told
        List<OutboxEntry> left = readAll(outbox);
        assertThat(outbox.lost()).isPositive();
        assertThat(outbox.takeLost()).isTrue();
        assertThat(outbox.takeLost()).isFalse();
        var newest = left.stream()
                .filter(entry -> entry.type() == EventType.EVENTS_LOST)
                .reduce((a, b) -> b)
                .map(Delivered::message);
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
    void lossThatWasToldAndThenLostItselfIsToldAgain() {
        // Given an outbox that loses so much that it loses what it said about its losses too
        Outbox outbox = outbox(5, 64 * 1024);
        for (int i = 0; i < 500; i++) {
            add(outbox, Topic.HEALTH, 2 * 1024);
        }

        var delivered = new Delivered();
        readAll(outbox).forEach(delivered::take);

        assertThat(delivered.toldLost()).isEqualTo(outbox.lost());
        assertThat(delivered.unexplained()).isEmpty();
    }

    @Test
    void whatADiskRefusesWaitsInMemoryAndGoesToTheDiskOnceItCan() {
        var disk = new FaultyDisk();
        Outbox outbox = outbox(disk, directory, 5, 1 << 20);
        add(outbox, Topic.HEALTH, 10);

        // Given a disk that fails for a while, with one event under way
        disk.fail();
        add(outbox, Topic.HEALTH, 11);
        add(outbox, Topic.HEALTH, 12);
        assertThat(outbox.diskBroken()).isTrue();
        disk.repair();
        var first = outbox.next().orElseThrow();
        var second = outbox.next().orElseThrow();

        // When it works again, and what was under way is answered
        add(outbox, Topic.TELEMETRY, 13);
        outbox.acknowledge(first.lane(), first.after());
        outbox.acknowledge(second.lane(), second.after());

        // Then a restart finds the rest, and no more
        assertThat(outbox.diskBroken()).isFalse();
        assertThat(readAll(outbox(6, 1 << 20)))
                .extracting(entry -> entry.topic() + " " + entry.sequence())
                .containsExactly("HEALTH 3", "TELEMETRY 1");
    }

    @Test
    void diskThatFillsUpInTheMiddleOfARecordCostsNothing() {
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
    void memoryThatIsFullTooDropsTheOldestAndTellsIt() {
        var disk = new FaultyDisk();
        disk.fail();
        Outbox outbox = outbox(disk, directory, 5, 1 << 20);

        for (int i = 0; i < 40; i++) {
            add(outbox, Topic.HEALTH, 64 * 1024);
        }

        var delivered = new Delivered();
        readAll(outbox).forEach(delivered::take);
        assertThat(outbox.lost()).isGreaterThan(20);
        assertThat(outbox.bytes()).isLessThan(1200 * 1024);
        assertThat(delivered.unexplained()).isEmpty();
    }

    @Test
    void outboxThatBeginsWithoutItsDiskTakesUpLaterWhatIsThere() throws IOException {
        // Given what an earlier start left, behind a disk that does not answer
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

    /** What a sender does with an outbox, while its disk comes and goes. */
    private static void use(Outbox outbox, FaultyDisk disk, Random random, Delivered delivered) {
        var underWay = new ArrayDeque<Outbox.Outgoing>();
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
                        Outbox.Outgoing sent = underWay.remove();
                        sent.entry().ifPresent(delivered::take);
                        outbox.acknowledge(sent.lane(), sent.after());
                    }
                }
                default -> add(outbox, random.nextInt(3) == 0 ? Topic.TELEMETRY : Topic.HEALTH, random.nextInt(90_000));
            }
        }
    }

    @Test
    void whateverTheDiskDoesEveryNumberArrivesOrIsToldLost() throws IOException {
        for (int seed = 0; seed < 300; seed++) {
            var disk = new FaultyDisk();
            var delivered = new Delivered();
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
    void entryIsReadAsItWasWritten() {
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
    void epochGrowsAlsoWhenTheClockWentBack() {
        long first = Epoch.next(directory, 1_000_000);
        long second = Epoch.next(directory, 500_000);
        long third = Epoch.next(directory, 2_000_000);

        assertThat(List.of(first, second, third)).containsExactly(1_000_000L, 1_000_001L, 2_000_000L);
    }

    @Test
    void epochIsTheClockWhereNothingCanBeKept() {
        assertThat(Epoch.next(Path.of("/proc/no-such-place"), 1_000_000)).isEqualTo(1_000_000);
    }
}
