package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LifeSignsTest {
    private static LifeSigns signs(Duration loop, Duration call, boolean looked, String notRegistered) {
        return new LifeSigns(
                loop,
                call,
                Optional.empty(),
                looked,
                notRegistered.isEmpty() ? Optional.empty() : Optional.of(notRegistered));
    }

    @Test
    void nodeWithNothingToRegisterIsReady() {
        LifeSigns idle = signs(Duration.ofMillis(10), Duration.ZERO, true, "");

        assertThat(idle.notAlive()).isEmpty();
        assertThat(idle.notReady()).isEmpty();
    }

    @Test
    void beforeTheFirstLookItIsAliveAndNotReady() {
        LifeSigns starting = signs(Duration.ofMillis(10), Duration.ofSeconds(3), false, "");

        assertThat(starting.notAlive()).isEmpty();
        assertThat(starting.notReady()).containsExactly("devices: nobody has looked yet");
    }

    @Test
    void missingKubeletIsNoReasonToBeRestarted() {
        LifeSigns alone = signs(Duration.ofMillis(10), Duration.ZERO, true, "kubelet: is not there");

        assertThat(alone.notAlive()).isEmpty();
        assertThat(alone.notReady()).containsExactly("kubelet: is not there");
    }

    @Test
    void stuckLoopAndStuckCallAndStuckServerAreEachAReasonToBeRestarted() {
        assertThat(signs(Duration.ofSeconds(29), Duration.ofMinutes(4), true, "")
                        .notAlive())
                .isEmpty();
        assertThat(signs(Duration.ofSeconds(30), Duration.ZERO, true, "").notAlive())
                .containsExactly("the watch loop has not turned for 30 s");
        assertThat(signs(Duration.ZERO, Duration.ofMinutes(5), true, "").notAlive())
                .containsExactly("the devices have not answered a call for 300 s");
        assertThat(new LifeSigns(Duration.ZERO, Duration.ZERO, Optional.of("does not answer"), true, Optional.empty())
                        .notAlive())
                .containsExactly("does not answer");
    }

    @Test
    void callThatDoesNotReturnIsSeenFromOutside() {
        var clock = new AtomicLong();
        var counters = new Counters();
        var source = new StillSource(() -> clock.addAndGet(Duration.ofMinutes(6).toNanos()));
        var timed = new TimedSource(source, counters, clock::get);
        source.during = () -> assertThat(timed.underWay()).isEqualTo(Duration.ofMinutes(6));

        timed.vitals();

        assertThat(timed.underWay()).isZero();
        assertThat(counters.deviceCalls())
                .containsOnlyKeys("vitals")
                .hasEntrySatisfying(
                        "vitals", calls -> assertThat(calls.sumSeconds()).isEqualTo(360));
    }
}
