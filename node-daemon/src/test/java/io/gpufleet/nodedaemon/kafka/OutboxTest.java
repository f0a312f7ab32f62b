package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutboxTest {
    private static final Moment NOW = new Moment(Instant.parse("2026-11-20T10:00:00Z"), 7);

    @TempDir
    Path directory;

    private Outbox outbox(long epoch, long bytes) {
        return new Outbox(
                directory, new BusSettings("localhost:1", "c1", "gpu.", "n1", "boot-1", directory, bytes), epoch);
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
    void lossesAreToldOnTheTopicThatLost() throws InvalidProtocolBufferException {
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
                .map(OutboxTest::lost);
        assertThat(newest).isPresent();
        long firstFact = left.stream()
                .filter(entry -> entry.type() == EventType.FAULT_OBSERVED)
                .mapToLong(OutboxEntry::sequence)
                .min()
                .orElseThrow();
        assertThat(newest.map(EventsLost::getEpoch)).contains(5L);
        assertThat(newest.map(EventsLost::getToSequence)).contains(firstFact - 1);
    }

    private static EventsLost lost(OutboxEntry entry) {
        try {
            return (EventsLost) Codec.fromJson(entry.json(), EventsLost.getDefaultInstance());
        } catch (InvalidProtocolBufferException broken) {
            throw new AssertionError(broken);
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
