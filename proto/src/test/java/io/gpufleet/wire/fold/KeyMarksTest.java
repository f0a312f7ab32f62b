package io.gpufleet.wire.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.EventId;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Topic;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class KeyMarksTest {
    private static final Source NODE = new Source.Node("c1", "n1");
    private static final Source SERVICE = new Source.Service("c1", "health-service-0");

    private final KeyMarks marks = new KeyMarks();

    @Test
    void firstEventIsFreshAndRevealsNoHoleWhateverItsNumber() {
        assertThat(admit(1000, 7, "b1")).isEqualTo(new Admission(true, false, 0));
    }

    @Test
    void sameEventAgainIsStale() {
        admit(1000, 1, "b1");

        assertThat(admit(1000, 1, "b1")).isEqualTo(Admission.STALE);
    }

    @Test
    void holeOfANodeIsCountedOnceAndOfAServiceNever() {
        admit(1000, 1, "b1");

        assertThat(admit(1000, 5, "b1").missed()).isEqualTo(3);
        assertThat(marks.admit(SERVICE, new EventId("health-service-0", 9, Topic.SIGNALS, 1), "")
                        .missed())
                .isZero();
        assertThat(marks.admit(SERVICE, new EventId("health-service-0", 9, Topic.SIGNALS, 9), "")
                        .missed())
                .isZero();
        assertThat(marks.toMessage().getMissed()).isEqualTo(3);
    }

    @Test
    void beginningOfANewEpochThatNeverArrivedIsAHole() {
        admit(1000, 4, "b1");

        assertThat(admit(2000, 3, "b1")).isEqualTo(new Admission(true, false, 2));
    }

    @Test
    void lowerEpochOfAKnownBootIsStale() {
        admit(2000, 1, "b1");

        assertThat(admit(1000, 9, "b1")).isEqualTo(Admission.STALE);
        assertThat(admit(1000, 9, "")).isEqualTo(Admission.STALE);
    }

    @Test
    void lowerEpochOfABootNeverSeenIsANewMachineAndTheOldOneIsStaleFromThenOn() {
        admit(2000, 1, "b1");

        assertThat(admit(1000, 1, "b2")).isEqualTo(new Admission(true, true, 0));
        assertThat(admit(2000, 2, "b1")).isEqualTo(Admission.STALE);
        assertThat(admit(1000, 2, "b2")).isEqualTo(new Admission(true, false, 0));
    }

    @Test
    void newMachineIsToldOnceThoughItIsMetOnEveryTopic() {
        admit(2000, 1, "b1");
        marks.admit(NODE, new EventId("n1", 2000, Topic.INVENTORY, 1), "b1");
        admit(1000, 1, "b2");

        assertThat(marks.admit(NODE, new EventId("n1", 1000, Topic.INVENTORY, 1), "b2"))
                .isEqualTo(new Admission(true, false, 0));
    }

    @Test
    void lossWithinAnEpochIsTheHoleThatWasCounted() {
        admit(1000, 1, "b1");
        admit(1000, 8, "b1");

        assertThat(marks.lost(NODE, Topic.HEALTH, 1000, 2, 7)).isZero();
    }

    @Test
    void lossAtTheEndOfAFormerEpochIsCountedWhenItIsTold() {
        admit(1000, 2, "b1");
        admit(2000, 1, "b1");

        assertThat(marks.lost(NODE, Topic.HEALTH, 1000, 3, 7)).isEqualTo(5);
        assertThat(marks.lost(NODE, Topic.HEALTH, 1000, 3, 7)).isZero();
        assertThat(marks.toMessage().getMissed()).isEqualTo(5);
    }

    @Test
    void lossOfAFormerEpochThatAHoleShowedIsNotCountedAgain() {
        admit(1000, 2, "b1");
        admit(1000, 8, "b1");
        admit(2000, 1, "b1");

        assertThat(marks.lost(NODE, Topic.HEALTH, 1000, 3, 7)).isZero();
    }

    @Test
    void atMostEightBootsAreKept() {
        for (int boot = 1; boot <= 20; boot++) {
            admit(1000 * boot, 1, "b" + boot);
        }

        assertThat(marks.toMessage().getBootIdsList()).hasSize(8).last().isEqualTo("b20");
        assertThat(KeyMarks.of(marks.toMessage()).toMessage()).isEqualTo(marks.toMessage());
    }

    private Admission admit(long epoch, long sequence, String boot) {
        return marks.admit(NODE, new EventId("n1", epoch, Topic.HEALTH, sequence), boot);
    }
}
