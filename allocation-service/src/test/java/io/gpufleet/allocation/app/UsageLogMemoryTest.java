package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** How many intervals a log of usage keeps, and for how long. */
class UsageLogMemoryTest extends TestUsageLog {
    private static Clock clock(AtomicReference<Instant> time) {
        return ((InstantSource) time::get).withZone(ZoneOffset.UTC);
    }

    @Test
    void memoryIsBoundedAndTellsFromWhenItIsComplete() throws IOException {
        log.loaded();
        for (int i = 0; i < 1_300; i++) {
            log.add(piece("i" + i, holding("ml", "g0", ""), i % 500, i % 500 + 1, 1));
        }
        assertThatThrownBy(() -> sum(0, 10)).hasMessageContaining("since when intervals are kept");
        assertThat(sum(100, 101)).isEqualTo("3.000");
    }

    @Test
    void pieceOfAClockThatIsFarAheadHidesNoOther() throws IOException {
        // Given
        var small = new UsageLog(ledger, Clock.fixed(NOW, ZoneOffset.UTC), 3 * PIECE);
        small.loaded();
        long years = 10 * 365 * 86_400L;
        small.add(piece("ahead", holding("ml", "g9", ""), years, years + 1, 1));
        // When
        for (int i = 0; i < 3; i++) {
            small.add(piece("i" + i, holding("ml", "g0", ""), 100 + i, 101 + i, 1));
        }
        // Then
        assertThat(small.keptSince()).isEqualTo(at(101));
    }

    @Test
    void pieceOfAClockThatIsFarAheadKeepsNoOldOneInMemory() throws IOException {
        // Given
        var time = new AtomicReference<>(NOW);
        var log = new UsageLog(ledger, clock(time), 100 * PIECE);
        log.loaded();
        long years = 10 * 365 * 86_400L;
        log.add(piece("ahead", holding("ml", "g9", ""), years, years + 1, 1));
        log.add(piece("old", holding("ml", "g0", ""), 100, 200, 1));
        // When
        time.set(NOW.plus(UsageLog.RETENTION).plusSeconds(1));
        log.add(piece("new", holding("ml", "g0", ""), 36 * 86_400L, 36 * 86_400L + 1, 1));
        // Then
        assertThat(log.size()).isEqualTo(2);
    }

    @Test
    void retentionIsLongerThanAMonth() {
        assertThat(UsageLog.RETENTION).isGreaterThan(Duration.ofDays(31));
    }
}
