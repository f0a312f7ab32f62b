package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.app.device.EmptyDeviceSource;
import io.gpufleet.nodedaemon.app.device.TimedDeviceSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LivenessChecksTest {
    private static LivenessChecks checks(Duration loop, Duration call, boolean scanned, String notRegistered) {
        return new LivenessChecks(
                loop,
                call,
                Duration.ZERO,
                Optional.empty(),
                scanned,
                notRegistered.isEmpty() ? Optional.empty() : Optional.of(notRegistered),
                List.of());
    }

    @Test
    void nodeWithNothingToRegisterIsReady() {
        LivenessChecks idle = checks(Duration.ofMillis(10), Duration.ZERO, true, "");

        assertThat(idle.livenessFailures()).isEmpty();
        assertThat(idle.readinessFailures()).isEmpty();
    }

    @Test
    void beforeTheFirstScanItIsLiveAndNotReady() {
        LivenessChecks starting = checks(Duration.ofMillis(10), Duration.ofSeconds(3), false, "");

        assertThat(starting.livenessFailures()).isEmpty();
        assertThat(starting.readinessFailures()).containsExactly("devices: not scanned yet");
    }

    @Test
    void missingKubeletFailsNoLivenessCheck() {
        LivenessChecks alone = checks(Duration.ofMillis(10), Duration.ZERO, true, "kubelet: is not there");

        assertThat(alone.livenessFailures()).isEmpty();
        assertThat(alone.readinessFailures()).containsExactly("kubelet: is not there");
    }

    @Test
    void stuckLoopCallOrServerFailsLiveness() {
        assertThat(checks(Duration.ofSeconds(29), Duration.ofMinutes(4), true, "")
                        .livenessFailures())
                .isEmpty();
        assertThat(checks(Duration.ofSeconds(30), Duration.ZERO, true, "").livenessFailures())
                .containsExactly("node loop has not iterated for 30 s");
        assertThat(checks(Duration.ZERO, Duration.ofMinutes(5), true, "").livenessFailures())
                .containsExactly("device call in flight for 300 s");
        assertThat(new LivenessChecks(
                                Duration.ZERO,
                                Duration.ZERO,
                                Duration.ZERO,
                                Optional.of("does not answer"),
                                true,
                                Optional.empty(),
                                List.of())
                        .livenessFailures())
                .containsExactly("does not answer");
    }

    @Test
    void waitForEventsThatDoesNotEndFailsLiveness() {
        assertThat(waiting(Duration.ofSeconds(59)).livenessFailures()).isEmpty();
        assertThat(waiting(Duration.ofSeconds(60)).livenessFailures())
                .containsExactly("wait for device events in flight for 60 s");
    }

    private static LivenessChecks waiting(Duration eventWait) {
        return new LivenessChecks(
                Duration.ZERO, Duration.ZERO, eventWait, Optional.empty(), true, Optional.empty(), List.of());
    }

    @Test
    void callThatDoesNotReturnIsVisibleInFlight() {
        var clock = new AtomicLong();
        var counters = new DaemonCounters();
        var source = new EmptyDeviceSource(
                () -> clock.addAndGet(Duration.ofMinutes(6).toNanos()));
        var timed = new TimedDeviceSource(source, counters, clock::get);
        source.during = () -> assertThat(timed.callInFlight()).isEqualTo(Duration.ofMinutes(6));

        timed.sample();

        assertThat(timed.callInFlight()).isZero();
        assertThat(counters.deviceCalls())
                .containsOnlyKeys("sample")
                .hasEntrySatisfying(
                        "sample", calls -> assertThat(calls.sumSeconds()).isEqualTo(360));
    }
}
