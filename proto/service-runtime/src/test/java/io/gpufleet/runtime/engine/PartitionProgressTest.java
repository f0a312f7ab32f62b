package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class PartitionProgressTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final EngineParts<?> parts = CountingProjection.partsWithoutBroker();
    private final TopicPartition partition = new TopicPartition("gpu.health", Topic.HEALTH.partitionOf("n1"));
    private final PartitionProgress progress = new PartitionProgress(parts, List.of(partition));
    private final long start = System.nanoTime();
    private final Instant now = Instant.parse("2026-01-01T00:00:00Z");

    @Test
    void partitionIsCaughtUpSinceItsEndWasReached() {
        update(2, 100, 100);
        update(4, 100, 100);

        assertThat(caughtUp(4)).isBetween(Duration.ofSeconds(2), Duration.ofSeconds(4));
    }

    @Test
    void recordThatWaitsEndsIt() {
        update(2, 100, 100);
        update(4, 101, 100);

        assertThat(caughtUp(4)).isZero();
        assertThat(progress.lag()).isEqualTo(1);
    }

    @Test
    void lagIsUnknownUntilItIsMeasured() {
        young(1, 100, 40);
        assertThat(progress.lag()).isEqualTo(ProjectionCounters.UNKNOWN);

        update(2, 100, 40);
        assertThat(progress.lag()).isEqualTo(60);
    }

    @Test
    void lagIsMeasuredWhereTheProbeAsksMoreOftenThanItsAnswersAreJudged() {
        for (long tenths = 6; tenths <= 24; tenths += 6) {
            long asked = start + tenths * SECOND / 10;
            var ends = new BrokerProbe.Ends(Map.of(partition, 100L), asked);
            progress.update(ends, _ -> 40L, asked, now.plusMillis(tenths * 100));
            progress.update(ends, _ -> 40L, asked + SECOND / 2, now.plusMillis(tenths * 100 + 500));
        }

        assertThat(progress.lag()).isEqualTo(60);
    }

    @Test
    void lagIsUnknownAgainWhenNoPartitionAnswersOrTheProbeIsOld() {
        update(2, 100, 40);
        progress.update(new BrokerProbe.Ends(Map.of(), at(3) - SECOND - 1), _ -> 40L, at(3), now.plusSeconds(3));
        assertThat(progress.lag()).isEqualTo(ProjectionCounters.UNKNOWN);

        update(5, 100, 40);
        assertThat(progress.lag()).isEqualTo(60);

        progress.update(new BrokerProbe.Ends(Map.of(partition, 100L), at(5)), _ -> 40L, at(16), now.plusSeconds(16));
        assertThat(progress.lag()).isEqualTo(ProjectionCounters.UNKNOWN);
    }

    @Test
    void endThatIsReachedCountsAtOnce() {
        young(2, 100, 100);

        assertThat(caughtUp(2)).isPositive();
    }

    @Test
    void endThatIsNotReachedYetEndsNothing() {
        update(2, 100, 100);
        young(3, 101, 100);

        assertThat(caughtUp(3)).isPositive();
    }

    @Test
    void endThatWasFoundBeforeTheTermSaysNothingAboutWhatCameSince() {
        progress.update(new BrokerProbe.Ends(Map.of(partition, 100L), start - 2 * SECOND), _ -> 100L, start, now);

        assertThat(caughtUp(0)).isZero();
    }

    @Test
    void pauseOfTheProcessEndsItEvenWhereTheProbeIsYoung() {
        update(2, 100, 100);

        // When the process is stopped for a minute and its probe asks first
        progress.update(new BrokerProbe.Ends(Map.of(partition, 160L), at(62)), _ -> 100L, at(62), now.plusSeconds(62));

        assertThat(caughtUp(62)).isZero();
    }

    private void update(int second, long end, long position) {
        progress.update(
                new BrokerProbe.Ends(Map.of(partition, end), at(second) - SECOND - 1),
                _ -> position,
                at(second),
                now.plusSeconds(second));
    }

    /** With ends that were found a moment ago. */
    private void young(int second, long end, long position) {
        progress.update(
                new BrokerProbe.Ends(Map.of(partition, end), at(second) - 1_000_000),
                _ -> position,
                at(second),
                now.plusSeconds(second));
    }

    private Duration caughtUp(int second) {
        return progress.caughtUpFor(Topic.HEALTH, "n1", now.plusSeconds(second));
    }

    private long at(int second) {
        return start + second * SECOND;
    }
}
