package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The clock and the monotonic one of a machine, which somebody sets. */
class ClockSetBacksTest {
    private long millis = 1_000_000;
    private long nanos = 5_000_000_000L;
    private long nanosPerReading;
    /** The first one compares both clocks every second, which the tests do themselves. */
    private final List<Runnable> threads = new ArrayList<>();

    private final ClockSetBacks setBacks =
            new ClockSetBacks(() -> Instant.ofEpochMilli(millis), () -> nanos += nanosPerReading, threads::add);
    private final AtomicInteger client = setBacks.watch(new AtomicInteger(), AtomicInteger::incrementAndGet);

    @Test
    void clockThatGoesOnAbortsNothing() {
        passes(Duration.ofSeconds(1));
        passes(Duration.ofHours(3));

        assertThat(setBacks.count()).isZero();
    }

    @Test
    void clockThatIsSetBackAbortsEachClient() {
        AtomicInteger second = setBacks.watch(new AtomicInteger(), AtomicInteger::incrementAndGet);

        passes(Duration.ofSeconds(1));
        isSet(Duration.ofHours(-1));

        assertThat(setBacks.count()).isEqualTo(1);
        assertThat(threads).hasSize(3);
        threads.subList(1, 3).forEach(Runnable::run);
        assertThat(client).hasValue(1);
        assertThat(second).hasValue(1);
    }

    @Test
    void clockThatIsSetAheadAbortsNothingUntilItIsSetBack() {
        isSet(Duration.ofHours(1));
        assertThat(setBacks.count()).isZero();

        isSet(Duration.ofHours(-1));
        assertThat(setBacks.count()).isEqualTo(1);

        passes(Duration.ofSeconds(1));
        assertThat(setBacks.count()).isEqualTo(1);
    }

    @Test
    void clockThatIsSetBackByLittleAbortsNothing() {
        isSet(Duration.ofMillis(-1_500));
        isSet(Duration.ofMillis(-1_500));

        assertThat(setBacks.count()).isZero();
    }

    @Test
    void processThatStandsStillBetweenBothReadingsAbortsNothing() {
        nanosPerReading = Duration.ofSeconds(10).toNanos();
        passes(Duration.ofSeconds(1));

        nanosPerReading = 0;
        millis += 20_000;
        passes(Duration.ofSeconds(1));

        assertThat(setBacks.count()).isZero();
    }

    private void passes(Duration time) {
        nanos += time.toNanos();
        isSet(time);
    }

    private void isSet(Duration by) {
        millis += by.toMillis();
        setBacks.check();
    }
}
