package io.gpufleet.inventory.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Snapshots of views that have not changed for an interval. */
class SnapshotScheduleTest {
    private static final Instant START = Instant.parse("2026-11-22T10:00:00Z");

    private final SnapshotSchedule schedule = new SnapshotSchedule(Duration.ofHours(2));

    private static Instant after(int minutes) {
        return START.plus(Duration.ofMinutes(minutes));
    }

    @Test
    void publishedViewIsDueAnIntervalLater() {
        schedule.published("n1", START);
        schedule.published("n1", after(60));

        assertThat(schedule.due(after(120))).isEmpty();
        assertThat(schedule.due(after(180))).containsExactly("n1");
        assertThat(schedule.due(after(181))).isEmpty();
        assertThat(schedule.due(after(300))).containsExactly("n1");
    }

    @Test
    void forgottenNodeIsNotDueAndMayComeBack() {
        schedule.published("n1", START);
        schedule.forget("n1");
        schedule.published("n1", after(10));
        schedule.published("n2", after(10));
        schedule.forget("n2");

        assertThat(schedule.due(after(120))).isEmpty();
        assertThat(schedule.due(after(130))).isEqualTo(List.of("n1"));
    }

    @Test
    void viewThatChangesOftenTakesNoMoreRoom() {
        for (int change = 0; change < 1_000; change++) {
            schedule.published("n1", START.plusSeconds(change));
        }
        assertThat(schedule.size()).isEqualTo(1);
    }
}
