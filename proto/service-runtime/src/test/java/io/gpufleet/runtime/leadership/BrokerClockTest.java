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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@NullMarked
class BrokerClockTest {
    private static final Instant ACKNOWLEDGED = Instant.parse("2026-01-01T00:00:01Z");
    private final BrokerClock clock = new BrokerClock(Clock.fixed(ACKNOWLEDGED, ZoneOffset.UTC), () -> 0);

    @Test
    void appendWithinTheRoundTripShowsNoDifference() {
        clock.learn(
                sent(ACKNOWLEDGED.minusMillis(20).toEpochMilli()),
                ACKNOWLEDGED.minusMillis(10).toEpochMilli());

        assertThat(clock.offset()).isZero();
    }

    @Test
    void brokerThatIsBehindMovesOurTimeBack() {
        long sent = ACKNOWLEDGED.minusMillis(20).toEpochMilli();
        clock.learn(sent(sent), sent - 660_000);

        assertThat(clock.offset()).isEqualTo(Duration.ofMinutes(-11));
        assertThat(clock.now()).isEqualTo(ACKNOWLEDGED.minusSeconds(660));
    }

    @Test
    void brokerThatIsAheadMovesOurTimeOn() {
        clock.learn(
                sent(ACKNOWLEDGED.minusMillis(20).toEpochMilli()),
                ACKNOWLEDGED.plusSeconds(60).toEpochMilli());

        assertThat(clock.offset()).isEqualTo(Duration.ofSeconds(60));
    }

    @ParameterizedTest
    @ValueSource(longs = {-30_000, 0, 30_000})
    void differenceOfUpToThirtySecondsIsTolerated(long millis) {
        learnDifference(millis);

        assertThat(clock.readinessFailure()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"-30001, -30", "-31500, -31", "30001, 30", "31500, 31"})
    void differenceAboveThirtySecondsIsAReasonOfReadiness(long millis, long said) {
        learnDifference(millis);

        assertThat(clock.readinessFailure())
                .contains("our clock differs from the broker's by " + said + " s: synchronise it");
    }

    private void learnDifference(long millis) {
        long sent = ACKNOWLEDGED.toEpochMilli();
        clock.learn(sent(sent), sent + millis);
    }

    @Test
    void clockThatIsSetHasToLearnAnew() {
        var time = new SimulatedTime();
        var offset = new AtomicReference<>(Duration.ZERO);
        var set = new BrokerClock(time.clock(offset::get), time::nanos);
        set.learn(set.sending(), time.now().toEpochMilli());
        time.advance(Duration.ofMinutes(10));
        assertThat(set.jumped()).isFalse();

        // When
        offset.set(Duration.ofHours(1));

        // Then
        assertThat(set.jumped()).isTrue();
        set.learn(set.sending(), time.now().toEpochMilli());
        assertThat(set.jumped()).isFalse();
        assertThat(set.now()).isEqualTo(time.now());
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1})
    void clockThatIsSetGoesOnAsBeforeUntilItHasLearntAnew(int hours) {
        var time = new SimulatedTime();
        var offset = new AtomicReference<>(Duration.ZERO);
        var set = new BrokerClock(time.clock(offset::get), time::nanos);
        set.learn(set.sending(), time.now().toEpochMilli());

        // When
        offset.set(Duration.ofHours(hours));
        time.advance(Duration.ofSeconds(2));

        // Then
        assertThat(set.corrected().instant()).isEqualTo(time.now());
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1})
    void clockThatIsSetBeforeTheAnswerOfABrokerLearnsNothingFromIt(int hours) {
        var time = new SimulatedTime();
        var offset = new AtomicReference<>(Duration.ZERO);
        var set = new BrokerClock(time.clock(offset::get), time::nanos);
        set.learn(set.sending(), time.now().toEpochMilli());

        // When
        BrokerClock.Sent sent = set.sending();
        offset.set(Duration.ofHours(hours));
        set.learn(sent, time.now().toEpochMilli());

        // Then
        assertThat(set.jumped()).isTrue();
        assertThat(set.now()).isEqualTo(time.now());
    }

    private static BrokerClock.Sent sent(long millis) {
        return new BrokerClock.Sent(millis, 0);
    }
}
