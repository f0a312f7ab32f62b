package io.gpufleet.runtime.sequence;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class KeySequencesTest {
    private static final EventSource NODE = new EventSource.Node("c1", "n1");
    private static final EventSource SERVICE = new EventSource.Service("c1", "health-service-0");

    private final KeySequences sequences = new KeySequences();

    @Test
    void firstEventIsFreshAndRevealsNoGapWhateverItsSequence() {
        assertThat(deduplicate(1000, 7, "b1")).isEqualTo(new DedupeResult(true, false, 0));
    }

    @Test
    void sameEventAgainIsStale() {
        deduplicate(1000, 1, "b1");

        assertThat(deduplicate(1000, 1, "b1")).isEqualTo(DedupeResult.STALE);
    }

    @Test
    void gapOfANodeIsCountedOnceAndOfAServiceNever() {
        deduplicate(1000, 1, "b1");

        assertThat(deduplicate(1000, 5, "b1").missed()).isEqualTo(3);
        assertThat(sequences
                        .deduplicate(SERVICE, new EventId("health-service-0", 9, Topic.SIGNALS, 1), "")
                        .missed())
                .isZero();
        assertThat(sequences
                        .deduplicate(SERVICE, new EventId("health-service-0", 9, Topic.SIGNALS, 9), "")
                        .missed())
                .isZero();
        assertThat(sequences.toMessage().getMissed()).isEqualTo(3);
    }

    @Test
    void servicesWithoutEndNeitherFillTheStateNorForgetTheNode() {
        // Given
        deduplicate(1000, 1, "b1");

        // When a service takes another name for each event about this node
        for (int replica = 0; replica < 5_000; replica++) {
            var source = new EventSource.Service("c1", "health-service-" + replica);
            sequences.deduplicate(source, new EventId(source.name(), 9, Topic.SIGNALS, 1), "");
        }

        // Then
        assertThat(sequences.toMessage().getSerializedSize()).isLessThan(16 * 1024);
        assertThat(deduplicate(1000, 1, "b1")).isEqualTo(DedupeResult.STALE);
        assertThat(deduplicate(1000, 2, "b1")).isEqualTo(new DedupeResult(true, false, 0));
    }

    @Test
    void missingStartOfANewEpochIsAGap() {
        deduplicate(1000, 4, "b1");

        assertThat(deduplicate(2000, 3, "b1")).isEqualTo(new DedupeResult(true, false, 2));
    }

    @Test
    void lowerEpochOfAKnownBootIsStale() {
        deduplicate(2000, 1, "b1");

        assertThat(deduplicate(1000, 9, "b1")).isEqualTo(DedupeResult.STALE);
        assertThat(deduplicate(1000, 9, "")).isEqualTo(DedupeResult.STALE);
    }

    @Test
    void lowerEpochOfABootNeverSeenIsANewMachineAndTheOldOneIsStaleFromThenOn() {
        deduplicate(2000, 1, "b1");

        assertThat(deduplicate(1000, 1, "b2")).isEqualTo(new DedupeResult(true, true, 0));
        assertThat(deduplicate(2000, 2, "b1")).isEqualTo(DedupeResult.STALE);
        assertThat(deduplicate(1000, 2, "b2")).isEqualTo(new DedupeResult(true, false, 0));
    }

    @Test
    void newMachineIsReportedOnceAcrossAllTopics() {
        deduplicate(2000, 1, "b1");
        sequences.deduplicate(NODE, new EventId("n1", 2000, Topic.INVENTORY, 1), "b1");
        deduplicate(1000, 1, "b2");

        assertThat(sequences.deduplicate(NODE, new EventId("n1", 1000, Topic.INVENTORY, 1), "b2"))
                .isEqualTo(new DedupeResult(true, false, 0));
    }

    @Test
    void lossWithinAnEpochIsTheGapAlreadyCounted() {
        deduplicate(1000, 1, "b1");
        deduplicate(1000, 8, "b1");

        assertThat(sequences.recordLoss(NODE, Topic.HEALTH, 1000, 2, 7)).isZero();
    }

    @Test
    void lossAtTheEndOfAFormerEpochIsCountedWhenReported() {
        deduplicate(1000, 2, "b1");
        deduplicate(2000, 1, "b1");

        assertThat(sequences.recordLoss(NODE, Topic.HEALTH, 1000, 3, 7)).isEqualTo(5);
        assertThat(sequences.recordLoss(NODE, Topic.HEALTH, 1000, 3, 7)).isZero();
        assertThat(sequences.toMessage().getMissed()).isEqualTo(5);
    }

    @Test
    void lossOfAFormerEpochAlreadyCountedAsAGapIsNotCountedAgain() {
        deduplicate(1000, 2, "b1");
        deduplicate(1000, 8, "b1");
        deduplicate(2000, 1, "b1");

        assertThat(sequences.recordLoss(NODE, Topic.HEALTH, 1000, 3, 7)).isZero();
    }

    @Test
    void atMostEightBootsAreKept() {
        for (int boot = 1; boot <= 20; boot++) {
            deduplicate(1000 * boot, 1, "b" + boot);
        }

        assertThat(sequences.toMessage().getBootIdsList()).hasSize(8).last().isEqualTo("b20");
        assertThat(KeySequences.of(sequences.toMessage()).toMessage()).isEqualTo(sequences.toMessage());
    }

    private DedupeResult deduplicate(long epoch, long sequence, String boot) {
        return sequences.deduplicate(NODE, new EventId("n1", epoch, Topic.HEALTH, sequence), boot);
    }
}
