package io.gpufleet.runtime.sequence;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class WriterSequencesTest {
    private static final EventSource SERVICE = new EventSource.Service("c1", "health-service-0");
    private static final Duration WAIT = Duration.ofSeconds(150);
    private static final Instant START = Instant.parse("2026-11-20T12:00:00Z");

    private final WriterSequences sequences = new WriterSequences();

    @Test
    void eventsOfSeveralPartitionsInAnyOrderRevealNoGap() {
        read(1000, 7, 9, 8, 12, 11, 10, 9);

        assertThat(sequences.gaps(true, WAIT, at(0))).isEmpty();
        assertThat(sequences.gaps(true, WAIT, at(1000))).isEmpty();
    }

    @Test
    void missingEventIsAGapOnceEveryPartitionWasReadToItsEndForLong() {
        read(1000, 1, 4, 6);

        assertThat(sequences.gaps(true, WAIT, at(0))).isEmpty();
        assertThat(sequences.gaps(true, WAIT, at(149))).isEmpty();
        assertThat(sequences.gaps(true, WAIT, at(150))).containsExactly(gap(1000, 2, 3));
        assertThat(sequences.gaps(true, WAIT, at(151))).isEmpty();
        assertThat(sequences.gaps(true, WAIT, at(301))).containsExactly(gap(1000, 5, 5));
        assertThat(sequences.gaps(true, WAIT, at(900))).isEmpty();
    }

    @Test
    void partitionThatLagsFarBehindMakesNoChangelogThatCannotBeReadAgain() {
        // Given every second event of a writer that publishes tens of thousands at once
        read(1000, 1);
        for (long sequence = 3; sequence < 40_000; sequence += 2) {
            read(1000, sequence);
        }

        // What another partition still has is not lost.
        assertThat(sequences.gaps(false, WAIT, at(0))).isEmpty();

        // A list of more than 10,000 entries ends every replica that reads it.
        assertThat(sequences.toMessages())
                .singleElement()
                .satisfies(message -> assertThat(message.getLaterCount()).isLessThanOrEqualTo(1_000));
    }

    @Test
    void writersWithoutEndMakeNoChangelogRecordThatIsTooLargeToWrite() {
        // Given a writer that takes another long name for each event, each with a gap
        for (int writer = 0; writer < 20_000; writer++) {
            var source = new EventSource.Service("c1", "health-service-" + "x".repeat(200) + writer);
            sequences.read(source, new EventId(source.name(), 1, Topic.SIGNALS, 1));
            sequences.read(source, new EventId(source.name(), 1, Topic.SIGNALS, 3));
        }

        // Then what is kept of them fits beside the offsets
        int bytes = sequences.toMessages().stream()
                .mapToInt(message -> message.getSerializedSize())
                .sum();
        assertThat(bytes).isLessThan(Topic.HEALTH_STATE.maxMessageBytes() / 2);
    }

    @Test
    void partitionThatLagsIsWaitedFor() {
        read(1000, 1, 4);
        sequences.gaps(true, WAIT, at(0));

        assertThat(sequences.gaps(false, WAIT, at(200))).isEmpty();
        assertThat(sequences.gaps(true, WAIT, at(201))).isEmpty();
        read(1000, 2, 3);
        assertThat(sequences.gaps(true, WAIT, at(900))).isEmpty();
    }

    @Test
    void missingStartOfANewIncarnationIsAGapButNotOfAnUnknownWriter() {
        read(1000, 5);
        read(2000, 3);

        sequences.gaps(true, WAIT, at(0));
        assertThat(sequences.gaps(true, WAIT, at(150))).containsExactly(gap(2000, 1, 2));
    }

    @Test
    void formerIncarnationThatArrivesLateIsNoGap() {
        read(2000, 1);
        read(1000, 9, 8);

        sequences.gaps(true, WAIT, at(0));
        assertThat(sequences.gaps(true, WAIT, at(150))).isEmpty();
    }

    @Test
    void gapIsFoundAfterARestartToo() {
        read(1000, 1, 4);
        var restarted = new WriterSequences();
        restarted.load(sequences.toMessages());

        restarted.gaps(true, WAIT, at(0));
        assertThat(restarted.gaps(true, WAIT, at(150))).containsExactly(gap(1000, 2, 3));
        assertThat(restarted.toMessages())
                .singleElement()
                .satisfies(message -> assertThat(message.getSequence()).isEqualTo(4));
    }

    @Test
    void eventsOfNodesAndOfCompactedTopicsAreNotConsidered() {
        var node = new EventSource.Node("c1", "n1");
        sequences.read(node, new EventId("n1", 1000, Topic.HEALTH, 1));
        sequences.read(SERVICE, new EventId("health-service-0", 1000, Topic.VERDICTS, 1));

        assertThat(sequences.toMessages()).isEmpty();
    }

    @Test
    void onlyTheNewestIncarnationsAreKept() {
        for (int epoch = 1; epoch <= 100; epoch++) {
            read(epoch, 1);
            sequences.gaps(true, WAIT, at(epoch));
        }

        assertThat(sequences.toMessages()).hasSize(2);
    }

    private void read(long epoch, long... numbers) {
        for (long number : numbers) {
            sequences.read(SERVICE, new EventId("health-service-0", epoch, Topic.SIGNALS, number));
        }
    }

    private static WriterSequences.Gap gap(long epoch, long from, long to) {
        return new WriterSequences.Gap("signals", SERVICE.toString(), epoch, from, to);
    }

    private static Instant at(int seconds) {
        return START.plusSeconds(seconds);
    }
}
