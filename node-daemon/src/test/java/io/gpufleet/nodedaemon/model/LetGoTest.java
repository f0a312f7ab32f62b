package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Some.second;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class LetGoTest {
    private static final LetGo WANTED = new LetGo.Wanted();

    private static HoldRequest until(double seconds) {
        return new HoldRequest("upgrade", second(seconds).wall(), second(0).wall(), "");
    }

    @Test
    void requestHoldsUntilItsDeadline() {
        LetGo held = WANTED.asked(until(60), second(0));

        assertThat(held).isInstanceOf(LetGo.Held.class);
        assertThat(held.endNanos()).hasValue(second(60).nanos());
        assertThat(held.asked(until(60), second(59.9))).isEqualTo(held);
        assertThat(held.asked(until(60), second(60))).isEqualTo(new LetGo.Overdue(until(60)));
    }

    @Test
    void requestThatIsTakenBackHoldsNoMore() {
        assertThat(WANTED.asked(until(60), second(0)).notAsked()).isEqualTo(WANTED);
    }

    @Test
    void deadlineThatHasPassedNeverHolds() {
        assertThat(WANTED.asked(until(60), second(61))).isInstanceOf(LetGo.Overdue.class);
    }

    @Test
    void overdueRequestHoldsOnlyWhenAskedAnew() {
        LetGo overdue = WANTED.asked(until(60), second(61));

        assertThat(overdue.asked(until(60), second(62))).isEqualTo(overdue);
        assertThat(overdue.asked(until(90), second(62))).isInstanceOf(LetGo.Held.class);
    }

    @Test
    void anotherDeadlineCountsFromThenOn() {
        LetGo held = WANTED.asked(until(60), second(0)).asked(until(120), second(30));

        assertThat(held.endNanos()).hasValue(second(120).nanos());
    }

    @Test
    void clockThatIsSetEndsNothing() {
        LetGo held = WANTED.asked(until(60), second(0));
        Instant twoHoursOn = second(7200).wall();

        assertThat(held.asked(until(60), new Moment(twoHoursOn, second(10).nanos())))
                .isEqualTo(held);
    }

    @Test
    void deadlineAtTheEndOfTimeIsAYearAway() {
        var request = new HoldRequest("x", Instant.MAX, second(0).wall(), "");

        assertThat(WANTED.asked(request, second(0)).endNanos()).hasValue(LetGo.LONGEST.toNanos());
    }
}
