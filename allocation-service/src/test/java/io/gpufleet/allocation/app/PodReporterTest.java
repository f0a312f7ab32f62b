package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Pods are reported once when they are bound and when they end, by the active replica, and kept while that may not be published. */
class PodReporterTest {
    private final List<String> published = new ArrayList<>();
    private boolean held = true;
    private final PodReporter reporter = new PodReporter(
            this::publish, Set.of("team"), (_, uid) -> uid.equals("uid-known"), Runnable::run, () -> {});

    private boolean publish(ObservedPod pod, boolean deleted) {
        if (pod.gpuPod().name().equals("broken")) {
            throw new IllegalArgumentException("no event can be made of it");
        }
        return held
                && published.add(
                        pod.gpuPod().name() + (pod.gpuPod().terminal() ? " ended" : "") + (deleted ? " deleted" : ""));
    }

    private static ObservedPod pod(String name, boolean terminal) {
        var constraints = new SchedulingConstraints(Map.of(), List.of(), "n1");
        var gpuPod = new GpuPod(
                "ml", name, "", "uid-" + name, true, terminal ? Instant.MIN : Instant.MAX, constraints, List.of());
        return new ObservedPod(
                gpuPod, "Succeeded", Instant.EPOCH, "", Map.of("team", "vision", "secret", "of the tenant"));
    }

    @Test
    void bindingAndEndOfAPodAreReportedOnce() {
        reporter.activated();
        reporter.podUpdated(pod("a", false));
        reporter.podUpdated(pod("a", false));
        reporter.podUpdated(pod("a", true));
        reporter.podUpdated(pod("a", true));
        assertThat(published).containsExactly("a", "a ended");
    }

    @Test
    void newActiveReplicaReportsRunningPodsThatTheLedgerDoesNotKnow() {
        reporter.podUpdated(pod("a", false));
        reporter.podUpdated(pod("known", false));
        // When
        reporter.activated();
        // Then
        assertThat(published).containsExactly("a");
    }

    @Test
    void ofARunningPodThatTheLedgerKnowsOnlyTheUidIsKeptUntilItEnds() {
        reporter.activated();
        reporter.podUpdated(pod("known", false));
        // When
        reporter.forgetKnown();
        reporter.podUpdated(pod("known", false));
        // Then
        assertThat(reporter.unknown()).isZero();
        reporter.podUpdated(pod("known", true));
        reporter.forgetKnown();
        assertThat(published).containsExactly("known", "known ended");
        assertThat(reporter.unknown()).isEqualTo(1);
    }

    @Test
    void onlyLabelsThatUsageCarriesAreReported() {
        List<ObservedPod> reported = new ArrayList<>();
        var pods = new PodReporter(
                (pod, _) -> reported.add(pod), Set.of("team"), (_, _) -> false, Runnable::run, () -> {});
        pods.activated();
        // When
        pods.podUpdated(pod("a", false));
        // Then
        assertThat(reported).singleElement().extracting(ObservedPod::labels).isEqualTo(Map.of("team", "vision"));
    }

    @Test
    void newActiveReplicaReportsAllFinishedPods() {
        reporter.podUpdated(pod("a", true));
        assertThat(published).isEmpty();
        // When
        reporter.activated();
        // Then
        assertThat(published).containsExactly("a ended");
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
        assertThat(published).containsExactly("a ended", "b deleted");
    }

    @Test
    void endThatCannotBePublishedHoldsUpNoOther() {
        reporter.activated();
        reporter.podUpdated(pod("broken", true));
        reporter.podUpdated(pod("a", true));
        assertThat(published).containsExactly("a ended");
    }
}
