package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HolderPollScheduleTest {
    private static final long LONG_AGO = second(-3600).nanos();
    private static final long NEVER = Long.MAX_VALUE;

    private static HolderPollSchedule answeredAt(double seconds) {
        var schedule = new HolderPollSchedule(second(seconds).nanos());
        schedule.requested(second(seconds).nanos());
        schedule.answered(second(seconds).nanos());
        return schedule;
    }

    @Test
    void kubeletIsFirstPolledHalfASecondAfterTheStart() {
        assertThat(new HolderPollSchedule(second(1).nanos()).nextNanos(LONG_AGO, NEVER))
                .isEqualTo(second(1.5).nanos());
    }

    @Test
    void kubeletIsPolledEveryTenSeconds() {
        assertThat(answeredAt(0).nextNanos(LONG_AGO, NEVER))
                .isEqualTo(second(10).nanos());
    }

    @Test
    void allocationIsFollowedByTwoPolls() {
        HolderPollSchedule schedule = answeredAt(0);
        schedule.allocated(second(1).nanos());

        assertThat(schedule.nextNanos(second(1).nanos(), NEVER))
                .isEqualTo(second(1.5).nanos());
        schedule.requested(second(1.5).nanos());
        schedule.answered(second(1.6).nanos());
        assertThat(schedule.nextNanos(second(1).nanos(), NEVER))
                .isEqualTo(second(3).nanos());
    }

    @Test
    void noPollFollowsAnAllocationImmediately() {
        HolderPollSchedule schedule = answeredAt(0);
        schedule.scheduleNow(second(5).nanos());

        assertThat(schedule.nextNanos(second(4.9).nanos(), NEVER))
                .isEqualTo(second(5.4).nanos());
    }

    @Test
    void steadyAllocationsPostponeAPollForFiveSecondsOnly() {
        HolderPollSchedule schedule = answeredAt(0);

        // When a container starts every 400 ms
        for (double at = 8; at < 15; at += 0.4) {
            schedule.allocated(second(at).nanos());
        }

        assertThat(schedule.nextNanos(second(14.9).nanos(), NEVER))
                .isEqualTo(second(8.5 + 5).nanos());
    }

    @Test
    void onlyOnePollIsInFlight() {
        HolderPollSchedule schedule = answeredAt(0);
        schedule.requested(second(10).nanos());
        schedule.scheduleNow(second(11).nanos());

        assertThat(schedule.nextNanos(LONG_AGO, NEVER)).isEqualTo(NEVER);
    }

    @Test
    void rateLimitDoublesThePause() {
        HolderPollSchedule schedule = answeredAt(0);
        schedule.requested(second(10).nanos());
        schedule.rateLimited(second(10).nanos());

        // Not even an allocation shortens the pause
        schedule.allocated(second(11).nanos());
        assertThat(schedule.nextNanos(second(11).nanos(), NEVER))
                .isEqualTo(second(20).nanos());

        schedule.requested(second(20).nanos());
        schedule.rateLimited(second(20).nanos());
        assertThat(schedule.nextNanos(LONG_AGO, NEVER)).isEqualTo(second(40).nanos());

        // And an answer ends it
        schedule.requested(second(40).nanos());
        schedule.answered(second(40).nanos());
        schedule.requested(second(50).nanos());
        schedule.rateLimited(second(50).nanos());
        assertThat(schedule.nextNanos(LONG_AGO, NEVER)).isEqualTo(second(60).nanos());
    }

    @Test
    void backoffIsLimited() {
        HolderPollSchedule schedule = answeredAt(0);
        for (int second = 10; second < 10_000; second += 200) {
            schedule.requested(second(second).nanos());
            schedule.rateLimited(second(second).nanos());

            assertThat(schedule.nextNanos(LONG_AGO, NEVER) - second(second).nanos())
                    .isLessThanOrEqualTo(120_000_000_000L);
        }
    }
}
