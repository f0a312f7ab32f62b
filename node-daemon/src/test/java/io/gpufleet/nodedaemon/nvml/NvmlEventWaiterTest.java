package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Backoff after failed waits. */
class NvmlEventWaiterTest {
    @Test
    void waitThatWorkedIsFollowedByTheNextAtOnce() {
        assertThat(NvmlEventWaiter.backoff(0)).isZero();
    }

    @Test
    void twentyThousandFailuresInARowTakeDays() {
        Duration all = IntStream.rangeClosed(1, 20_000)
                .mapToObj(NvmlEventWaiter::backoff)
                .reduce(Duration.ZERO, Duration::plus);

        assertThat(all).isGreaterThan(Duration.ofDays(6));
    }

    @ParameterizedTest
    @CsvSource({"1, 100", "2, 200", "3, 400", "9, 25600", "10, 30000", "1000000, 30000"})
    void eachFailureWaitsTwiceAsLongUpToHalfAMinute(int failures, long milliseconds) {
        assertThat(NvmlEventWaiter.backoff(failures)).isEqualTo(Duration.ofMillis(milliseconds));
    }
}
