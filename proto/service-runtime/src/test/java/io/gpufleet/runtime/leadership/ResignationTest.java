package io.gpufleet.runtime.leadership;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class ResignationTest {
    private final Resignation resignation = new Resignation(3);

    @Test
    void thirdTermWithoutACommitResignsForAGrowingWhile() {
        assertThat(resignation.failed("denied")).isEmpty();
        assertThat(resignation.failed("denied")).isEmpty();
        assertThat(resignation.failed("denied")).contains(Duration.ofSeconds(5));
        resignation.failed("denied");
        resignation.failed("denied");
        assertThat(resignation.failed("denied")).contains(Duration.ofSeconds(10));
    }

    @Test
    void reasonStaysUntilATermCommits() {
        resignation.failed("denied");
        resignation.failed("denied");
        resignation.failed("denied");
        assertThat(resignation.reasons()).containsExactly("resigned after 3 terms without a commit: denied");

        resignation.productive();

        assertThat(resignation.reasons()).isEmpty();
        assertThat(resignation.failed("denied")).isEmpty();
    }

    @Test
    void reasonEndsWhenAnotherReplicaLeadsButTheAbsenceGoesOnGrowing() {
        resignation.failed("disk full");
        resignation.failed("disk full");
        resignation.failed("disk full");

        resignation.anotherLeads();

        assertThat(resignation.reasons()).isEmpty();
        resignation.failed("disk full");
        resignation.failed("disk full");
        assertThat(resignation.failed("disk full")).contains(Duration.ofSeconds(10));
    }
}
