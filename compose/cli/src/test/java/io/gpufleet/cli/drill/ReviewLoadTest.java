package io.gpufleet.cli.drill;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReviewLoadTest {
    private static final Duration TIME = Duration.ofSeconds(20);

    @Test
    void rateThatWasReachedWithAllAdmittedHolds() {
        assertThat(ReviewLoad.outcome(9_990, 0, "", TIME))
                .isEqualTo(new Ongoing.Outcome("each of 9990 reviews is admitted, at 500/s", ""));
    }

    @Test
    void rateThatWasNotReachedDoesNotHoldAlthoughAllAreAdmitted() {
        assertThat(ReviewLoad.outcome(6_000, 0, "", TIME).objection())
                .isEqualTo("only 300/s were asked: 90 of them waited for their answers");
    }

    @Test
    void reviewThatFailedIsSaidWithItsReason() {
        assertThat(ReviewLoad.outcome(10_000, 2, "refused", TIME).objection())
                .isEqualTo("2 of 10000 failed, the first: refused");
    }
}
