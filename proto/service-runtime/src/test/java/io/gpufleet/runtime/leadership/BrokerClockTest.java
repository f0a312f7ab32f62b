package io.gpufleet.runtime.leadership;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class BrokerClockTest {
    private static final Instant ACKNOWLEDGED = Instant.parse("2026-01-01T00:00:01Z");
    private final BrokerClock clock = new BrokerClock(Clock.fixed(ACKNOWLEDGED, ZoneOffset.UTC));

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
}
