package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.second;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HolderScheduleTest {
    private static final long LONG_AGO = second(-3600).nanos();
    private static final long NEVER = Long.MAX_VALUE;

    private static HolderSchedule answeredAt(double seconds) {
        var schedule = new HolderSchedule(second(seconds).nanos());
        schedule.asked(second(seconds).nanos());
        schedule.answered(second(seconds).nanos());
        return schedule;
    }

    @Test
    void kubeletIsAskedEveryTenSeconds() {
        assertThat(answeredAt(0).nextNanos(LONG_AGO, NEVER))
                .isEqualTo(second(10).nanos());
    }

    @Test
    void allocationIsFollowedByTwoLooks() {
        HolderSchedule schedule = answeredAt(0);
        schedule.allocated(second(1).nanos());

        assertThat(schedule.nextNanos(second(1).nanos(), NEVER))
                .isEqualTo(second(1.5).nanos());
        schedule.asked(second(1.5).nanos());
        schedule.answered(second(1.6).nanos());
        assertThat(schedule.nextNanos(second(1).nanos(), NEVER))
                .isEqualTo(second(3).nanos());
    }

    @Test
    void kubeletIsLeftAloneAfterEveryAllocationHoweverMuchIsDue() {
        HolderSchedule schedule = answeredAt(0);
        schedule.soon(second(5).nanos());

        assertThat(schedule.nextNanos(second(4.9).nanos(), NEVER))
                .isEqualTo(second(5.4).nanos());
    }

    @Test
    void nobodyIsAskedTwiceAtOnce() {
        HolderSchedule schedule = answeredAt(0);
        schedule.asked(second(10).nanos());
        schedule.soon(second(11).nanos());

        assertThat(schedule.nextNanos(LONG_AGO, NEVER)).isEqualTo(NEVER);
    }

    @Test
    void kubeletThatIsAskedTooOftenIsLeftAloneForLongerEachTime() {
        HolderSchedule schedule = answeredAt(0);
        schedule.asked(second(10).nanos());
        schedule.refused(second(10).nanos());

        // Not even an allocation shortens the pause
        schedule.allocated(second(11).nanos());
        assertThat(schedule.nextNanos(second(11).nanos(), NEVER))
                .isEqualTo(second(20).nanos());

        schedule.asked(second(20).nanos());
        schedule.refused(second(20).nanos());
        assertThat(schedule.nextNanos(LONG_AGO, NEVER)).isEqualTo(second(40).nanos());

        // And an answer ends it
        schedule.asked(second(40).nanos());
        schedule.answered(second(40).nanos());
        schedule.asked(second(50).nanos());
        schedule.refused(second(50).nanos());
        assertThat(schedule.nextNanos(LONG_AGO, NEVER)).isEqualTo(second(60).nanos());
    }

    @Test
    void pauseHasAnEnd() {
        HolderSchedule schedule = answeredAt(0);
        for (int second = 10; second < 10_000; second += 200) {
            schedule.asked(second(second).nanos());
            schedule.refused(second(second).nanos());

            assertThat(schedule.nextNanos(LONG_AGO, NEVER) - second(second).nanos())
                    .isLessThanOrEqualTo(120_000_000_000L);
        }
    }
}
