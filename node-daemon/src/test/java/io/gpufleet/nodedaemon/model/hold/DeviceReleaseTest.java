package io.gpufleet.nodedaemon.model.hold;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.Moment;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class DeviceReleaseTest {
    private static final DeviceRelease WANTED = new DeviceRelease.NotRequested();

    private static GpuReleaseRequest until(double seconds) {
        return new GpuReleaseRequest(
                "upgrade", second(seconds).wall(), second(0).wall(), "");
    }

    @Test
    void requestHoldsUntilItsDeadline() {
        DeviceRelease held = WANTED.requested(until(60), second(0));

        assertThat(held).isInstanceOf(DeviceRelease.Released.class);
        assertThat(held.endNanos()).hasValue(second(60).nanos());
        assertThat(held.requested(until(60), second(59.9))).isEqualTo(held);
        assertThat(held.requested(until(60), second(60))).isEqualTo(new DeviceRelease.Expired(until(60)));
    }

    @Test
    void removedRequestEndsTheRelease() {
        assertThat(WANTED.requested(until(60), second(0)).requestRemoved()).isEqualTo(WANTED);
    }

    @Test
    void expiredDeadlineReleasesNothing() {
        assertThat(WANTED.requested(until(60), second(61))).isInstanceOf(DeviceRelease.Expired.class);
    }

    @Test
    void expiredRequestCountsOnlyWhenRequestedAgain() {
        DeviceRelease overdue = WANTED.requested(until(60), second(61));

        assertThat(overdue.requested(until(60), second(62))).isEqualTo(overdue);
        assertThat(overdue.requested(until(90), second(62))).isInstanceOf(DeviceRelease.Released.class);
    }

    @Test
    void anotherDeadlineCountsFromThenOn() {
        DeviceRelease held = WANTED.requested(until(60), second(0)).requested(until(120), second(30));

        assertThat(held.endNanos()).hasValue(second(120).nanos());
    }

    @Test
    void wallClockJumpDoesNotEndTheRelease() {
        DeviceRelease held = WANTED.requested(until(60), second(0));
        Instant twoHoursOn = second(7200).wall();

        assertThat(held.requested(until(60), new Moment(twoHoursOn, second(10).nanos())))
                .isEqualTo(held);
    }

    @Test
    void distantDeadlineIsLimitedToAYear() {
        var request = new GpuReleaseRequest("x", Instant.MAX, second(0).wall(), "");

        assertThat(WANTED.requested(request, second(0)).endNanos()).hasValue(DeviceRelease.MAX_DURATION.toNanos());
    }
}
