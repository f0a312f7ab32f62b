package io.gpufleet.nodedaemon.model.hold;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GpuReleaseRequestTest {
    private static final Instant WRITTEN = Instant.parse("2026-11-21T19:00:00Z");

    @Test
    void reasonAndDeadlineAreRead() {
        GpuReleaseRequest request =
                GpuReleaseRequest.parse("reason: driver 580 is coming\ndeadline: 2026-11-21T21:00:00Z\n", WRITTEN);

        assertThat(request)
                .isEqualTo(new GpuReleaseRequest(
                        "driver 580 is coming", Instant.parse("2026-11-21T21:00:00Z"), WRITTEN, ""));
    }

    @ParameterizedTest
    @CsvSource({
        "90s,2026-11-21T19:01:30Z",
        "20m,2026-11-21T19:20:00Z",
        "2h,2026-11-21T21:00:00Z",
        "1 H,2026-11-21T20:00:00Z"
    })
    void durationCountsFromTheFileTimestamp(String length, Instant deadline) {
        assertThat(GpuReleaseRequest.parse("deadline=" + length, WRITTEN).deadline())
                .isEqualTo(deadline);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "deadline:", "please", "{\"deadline\":1}"})
    void withoutADeadlineItHoldsForHalfAnHour(String text) {
        GpuReleaseRequest request = GpuReleaseRequest.parse(text, WRITTEN);

        assertThat(request.deadline()).isEqualTo(Instant.parse("2026-11-21T19:30:00Z"));
        assertThat(request.warning()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"deadline: tomorrow", "deadline: -5m", "deadline: 2026-11-21", "deadline: 20"})
    void invalidDeadlineIsReportedAndHoldsForHalfAnHour(String text) {
        GpuReleaseRequest request = GpuReleaseRequest.parse(text, WRITTEN);

        assertThat(request.deadline()).isEqualTo(Instant.parse("2026-11-21T19:30:00Z"));
        assertThat(request.warning()).contains("deadline is neither an instant");
    }

    @Property(tries = 500)
    void noTextIsRefused(@ForAll String text) {
        GpuReleaseRequest request = GpuReleaseRequest.parse("reason: " + text + "\ndeadline: " + text, WRITTEN);

        assertThat(request.reason()).hasSizeBetween(1, 200);
    }
}
