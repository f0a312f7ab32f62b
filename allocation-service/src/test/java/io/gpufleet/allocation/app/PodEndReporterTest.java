package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Ends of pods are reported once by the active replica, and kept while they may not be published. */
class PodEndReporterTest {
    private final List<String> published = new ArrayList<>();
    private boolean held = true;
    private final PodEndReporter reporter = new PodEndReporter(this::publish, Runnable::run, () -> {});

    private boolean publish(ObservedPod pod, boolean deleted) {
        if (pod.gpuPod().name().equals("broken")) {
            throw new IllegalArgumentException("no event can be made of it");
        }
        return held && published.add(pod.gpuPod().name() + (deleted ? " deleted" : ""));
    }

    private static ObservedPod pod(String name, boolean terminal) {
        var constraints = new SchedulingConstraints(Map.of(), List.of(), "n1");
        var gpuPod = new GpuPod(
                "ml", name, "", "uid-" + name, true, terminal ? Instant.MIN : Instant.MAX, constraints, List.of());
        return new ObservedPod(gpuPod, "Succeeded", Instant.EPOCH, "", Map.of());
    }

    @Test
    void endOfAPodIsReportedOnce() {
        reporter.activated();
        reporter.podUpdated(pod("a", false));
        reporter.podUpdated(pod("a", true));
        reporter.podUpdated(pod("a", true));
        assertThat(published).containsExactly("a");
    }

    @Test
    void newActiveReplicaReportsAllFinishedPods() {
        reporter.podUpdated(pod("a", true));
        assertThat(published).isEmpty();
        // When
        reporter.activated();
        // Then
        assertThat(published).containsExactly("a");
    }

    @Test
    void replicaThatIsNotActiveReportsNothing() {
        reporter.activated();
        reporter.deactivated();
        reporter.podUpdated(pod("a", true));
        reporter.podDeleted(pod("a", true));
        reporter.publish();
        assertThat(published).isEmpty();
    }

    @Test
    void endsThatMayNotBePublishedAreKeptInOrder() {
        reporter.activated();
        held = false;
        reporter.podUpdated(pod("a", true));
        reporter.podDeleted(pod("b", false));
        assertThat(published).isEmpty();
        // When
        held = true;
        reporter.publish();
        // Then
        assertThat(published).containsExactly("a", "b deleted");
    }

    @Test
    void endThatCannotBePublishedHoldsUpNoOther() {
        reporter.activated();
        reporter.podUpdated(pod("broken", true));
        reporter.podUpdated(pod("a", true));
        assertThat(published).containsExactly("a");
    }
}
