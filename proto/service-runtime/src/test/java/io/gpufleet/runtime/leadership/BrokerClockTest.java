package io.gpufleet.runtime.leadership;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.simulation.SimulatedTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class BrokerClockTest {
    private static final Instant ACKNOWLEDGED = Instant.parse("2026-01-01T00:00:01Z");
    private final BrokerClock clock = new BrokerClock(Clock.fixed(ACKNOWLEDGED, ZoneOffset.UTC), () -> 0);

    @Test
    void appendWithinTheRoundTripShowsNoDifference() {
        clock.learn(
                ACKNOWLEDGED.minusMillis(20).toEpochMilli(),
                ACKNOWLEDGED.minusMillis(10).toEpochMilli());

        assertThat(clock.offset()).isZero();
    }

    @Test
    void brokerThatIsBehindMovesOurTimeBack() {
        long sent = ACKNOWLEDGED.minusMillis(20).toEpochMilli();
        clock.learn(sent, sent - 660_000);

        assertThat(clock.offset()).isEqualTo(Duration.ofMinutes(-11));
        assertThat(clock.now()).isEqualTo(ACKNOWLEDGED.minusSeconds(660));
    }

    @Test
    void brokerThatIsAheadMovesOurTimeOn() {
        clock.learn(
                ACKNOWLEDGED.minusMillis(20).toEpochMilli(),
                ACKNOWLEDGED.plusSeconds(60).toEpochMilli());

        assertThat(clock.offset()).isEqualTo(Duration.ofSeconds(60));
    }

    @Test
    void clockThatIsSetHasToLearnAnew() {
        var time = new SimulatedTime();
        var offset = new AtomicReference<>(Duration.ZERO);
        var set = new BrokerClock(time.clock(offset::get), time::nanos);
        set.learn(time.now().toEpochMilli(), time.now().toEpochMilli());
        time.advance(Duration.ofMinutes(10));
        assertThat(set.jumped()).isFalse();

        // When
        offset.set(Duration.ofHours(1));

        // Then
        assertThat(set.jumped()).isTrue();
        long now = time.now().plus(offset.get()).toEpochMilli();
        set.learn(now, time.now().toEpochMilli());
        assertThat(set.jumped()).isFalse();
        assertThat(set.now()).isEqualTo(time.now());
    }
}
