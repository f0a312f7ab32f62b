package io.gpufleet.health.model.drain;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.drain.DrainProgress.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class DrainAdmissionTest {
    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
    private static final String JOB = "team/Job/train";

    private final DrainAdmission admission = new DrainAdmission();
    private Instant now = NOW;

    private boolean admits(String node, String... jobs) {
        return admission.admit(node, List.of(jobs), DrainSettings.DEFAULT, now).isEmpty();
    }

    private void committed(String node, Phase phase, String... jobs) {
        admission.committed(node, new DrainProgress(phase, now, now, List.of(jobs), ""));
    }

    @Test
    void soManyNodesAreDrainedAtOnce() {
        assertThat(admits("node-1")).isTrue();
        assertThat(admits("node-2")).isTrue();
        assertThat(admits("node-3")).isFalse();

        committed("node-1", Phase.ACTIVE);
        committed("node-1", Phase.DRAINED);

        assertThat(admits("node-3")).isTrue();
    }

    @Test
    void twoNodesOfOneJobAreNeverDrainedAtOnce() {
        assertThat(admits("node-1", JOB)).isTrue();

        assertThat(admits("node-2", JOB)).isFalse();
        assertThat(admits("node-2", "team/Job/other")).isTrue();
    }

    @Test
    void theNextNodeOfAJobWaitsForTheInterval() {
        admits("node-1", JOB);
        committed("node-1", Phase.ACTIVE, JOB);
        committed("node-1", Phase.DRAINED, JOB);
        assertThat(admits("node-2", JOB)).isFalse();

        now = now.plus(Duration.ofMinutes(30));

        assertThat(admits("node-2", JOB)).isTrue();
    }

    @Test
    void anOlderCommitDoesNotEndAnAdmission() {
        admits("node-1", JOB);

        committed("node-1", Phase.WAITING);

        assertThat(admits("node-2", JOB)).isFalse();
    }

    @Test
    void anAdmissionThatIsNeverCommittedDoesNotCountForEver() {
        admits("node-1", JOB);

        now = now.plus(Duration.ofMinutes(1));

        assertThat(admits("node-2", JOB)).isTrue();
    }

    @Test
    void whatCouldNotBeRecordedDoesNotCount() {
        admits("node-1", JOB);

        admission.withdraw("node-1");

        assertThat(admits("node-2", JOB)).isTrue();
    }
}
