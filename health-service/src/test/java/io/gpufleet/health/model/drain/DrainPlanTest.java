package io.gpufleet.health.model.drain;

import static io.gpufleet.health.model.drain.TestPods.cpuPod;
import static io.gpufleet.health.model.drain.TestPods.gpuPod;
import static io.gpufleet.health.model.drain.TestPods.held;
import static io.gpufleet.health.model.drain.TestPods.noticed;
import static io.gpufleet.health.model.drain.TestPods.ofJob;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.drain.DrainSettings.OnDeadline;
import io.gpufleet.health.model.drain.PodOnNode.Kind;
import io.gpufleet.health.model.drain.PodOnNode.Phase;
import io.gpufleet.health.model.drain.PodOnNode.PodName;
import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class DrainPlanTest {
    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
    private static final DrainOrder REBOOT = DrainOrder.ofNode(DrainMode.GPU_PODS);
    private static final DrainOrder RESET = DrainOrder.ofDevice("GPU-1");

    private static DrainSettings settings(OnDeadline onDeadline) {
        return new DrainSettings(
                new DrainSettings.Times(Duration.ofMinutes(5), Duration.ofHours(1), Duration.ofMinutes(30)),
                onDeadline,
                2,
                List.of("team*"),
                List.of("team-prod"),
                MaintenanceWindows.ANY_TIME);
    }

    private static DrainProgress begun(Instant since, String... jobs) {
        return new DrainProgress(DrainProgress.Phase.ACTIVE, since, since, List.of(jobs), "");
    }

    private static List<PodDrainAction> steps(DrainOrder order, Holdings holdings, PodOnNode... pods) {
        return DrainPlan.of(order, begun(NOW), holdings, List.of(pods), settings(OnDeadline.WAIT), NOW)
                .steps();
    }

    @Test
    void aResetConcernsOnlyThePodThatHoldsTheGpu() {
        assertThat(steps(RESET, held("a", "GPU-1"), gpuPod("a"), gpuPod("b"), cpuPod("c")))
                .extracting(step -> step.pod().name().name())
                .containsExactly("a");
    }

    @Test
    void aRebootConcernsEveryGpuPodAndAllConcernsEveryPod() {
        assertThat(steps(REBOOT, Holdings.UNKNOWN, gpuPod("a"), cpuPod("b"))).hasSize(1);
        assertThat(steps(DrainOrder.ofNode(DrainMode.ALL), Holdings.UNKNOWN, gpuPod("a"), cpuPod("b")))
                .hasSize(2);
    }

    @Test
    void nobodyIsEvictedForAResetBeforeTheDaemonSaidWhoHoldsTheGpu() {
        DrainPlan plan =
                DrainPlan.of(RESET, begun(NOW), Holdings.UNKNOWN, List.of(gpuPod("a")), settings(OnDeadline.WAIT), NOW);

        assertThat(plan.steps()).isEmpty();
        assertThat(plan.done()).isFalse();
    }

    @Test
    void podsOfDaemonSetsAndOfTheKubeletAndOfExcludedNamespacesAreLeftAlone() {
        var system = new PodOnNode(new PodName("kube-system", "dns", "u1"), "", Kind.OTHER, Phase.LIVE, true, null);
        var excluded = new PodOnNode(new PodName("team-prod", "api", "u2"), "", Kind.OTHER, Phase.LIVE, true, null);

        List<PodDrainAction> steps = steps(
                REBOOT,
                Holdings.UNKNOWN,
                TestPods.of(gpuPod("agent"), Kind.DAEMON_SET),
                TestPods.of(gpuPod("static"), Kind.MIRROR),
                system,
                excluded);

        assertThat(steps).hasSize(4).hasOnlyElementsOfType(PodDrainAction.Leave.class);
    }

    @Test
    void aPodThatEndedConcernsNobodyAndOneThatEndsIsAwaited() {
        List<PodDrainAction> steps = steps(
                REBOOT,
                Holdings.UNKNOWN,
                TestPods.of(gpuPod("done"), Phase.ENDED),
                TestPods.of(gpuPod("ending"), Phase.ENDING));

        assertThat(steps).singleElement().isInstanceOf(PodDrainAction.Wait.class);
    }

    @Test
    void aPodGetsItsNoticeThenTimeThenItsEviction() {
        PodOnNode pod = gpuPod("a");
        Instant at = NOW.plus(Duration.ofMinutes(5));

        assertThat(steps(REBOOT, Holdings.UNKNOWN, pod)).containsExactly(new PodDrainAction.Notify(pod, at));
        assertThat(steps(REBOOT, Holdings.UNKNOWN, noticed(pod, at)))
                .containsExactly(new PodDrainAction.Wait(noticed(pod, at), at));
        assertThat(steps(REBOOT, Holdings.UNKNOWN, noticed(pod, NOW)))
                .containsExactly(new PodDrainAction.Evict(noticed(pod, NOW)));
    }

    @Test
    void aNoticeBeyondTheGrantedTimeHoldsNothingUp() {
        PodOnNode pod = noticed(gpuPod("a"), NOW.plus(Duration.ofDays(1)));

        assertThat(steps(REBOOT, Holdings.UNKNOWN, pod)).containsExactly(new PodDrainAction.Evict(pod));
    }

    @Test
    void theDeadlineDeletesOnlyWhereThePolicySaysSo() {
        PodOnNode pod = noticed(gpuPod("a"), NOW);
        Instant late = NOW.plus(Duration.ofHours(1));

        assertThat(DrainPlan.of(REBOOT, begun(NOW), Holdings.UNKNOWN, List.of(pod), settings(OnDeadline.WAIT), late)
                        .steps())
                .containsExactly(new PodDrainAction.Evict(pod));
        assertThat(DrainPlan.of(REBOOT, begun(NOW), Holdings.UNKNOWN, List.of(pod), settings(OnDeadline.DELETE), late)
                        .steps())
                .containsExactly(new PodDrainAction.Delete(pod));
    }

    @Test
    void aPodOfAJobWaitsUntilTheJobMayLoseIt() {
        PodOnNode pod = ofJob("a", "train");

        DrainPlan before =
                DrainPlan.of(REBOOT, begun(NOW), Holdings.UNKNOWN, List.of(pod), settings(OnDeadline.WAIT), NOW);
        DrainPlan after = DrainPlan.of(
                REBOOT, begun(NOW, "team/Job/train"), Holdings.UNKNOWN, List.of(pod), settings(OnDeadline.WAIT), NOW);

        assertThat(before.jobsToAskFor()).containsExactly("team/Job/train");
        assertThat(after.steps()).hasOnlyElementsOfType(PodDrainAction.Notify.class);
    }

    @Test
    void twoOrdersAreOne() {
        assertThat(RESET.and(DrainOrder.ofDevice("GPU-0")))
                .isEqualTo(new DrainOrder(DrainMode.GPU_PODS, List.of("GPU-0", "GPU-1")));
        assertThat(RESET.and(REBOOT)).isEqualTo(REBOOT);
        assertThat(DrainOrder.NONE.and(RESET)).isEqualTo(RESET);
    }
}
