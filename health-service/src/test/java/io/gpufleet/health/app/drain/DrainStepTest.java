package io.gpufleet.health.app.drain;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.drain.PodClient.PodResponse;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeReference;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.drain.DrainAdmission;
import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainProgress.Phase;
import io.gpufleet.health.model.drain.DrainSettings;
import io.gpufleet.health.model.drain.PodOnNode;
import io.gpufleet.health.model.drain.TestPods;
import io.gpufleet.health.model.maintenance.MaintenanceWindow;
import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A drain from its order to the last pod, step by step; reports become commits as the machine makes them. */
class DrainStepTest {
    private static final Duration NOTICE = DrainSettings.DEFAULT.times().notice();

    private final NodeScenario node = new NodeScenario(TestPolicies.draining(DrainMode.GPU_PODS))
            .nodeObserved("uid-1")
            .announced("gpu-0", "gpu-1")
            .xid("gpu-0", 79);
    private final FakePods pods = new FakePods(TestPods.gpuPod("a"), TestPods.cpuPod("b"));
    private final List<DrainSink.Report> reports = new ArrayList<>();
    private final CurrentLease lease = new CurrentLease();
    private final DrainAdmission admission = new DrainAdmission();
    private boolean held = true;
    private boolean commits = true;

    private MaintenanceWindows windows = MaintenanceWindows.ANY_TIME;
    private Optional<String> freeze = Optional.empty();

    private final DrainStep step = new DrainStep(
                    pods, (_, report) -> record(report), admission, this::settings, lease, clock())
            .pausedBy(() -> freeze);

    private DrainSettings settings() {
        DrainSettings standard = DrainSettings.DEFAULT;
        return new DrainSettings(
                standard.times(),
                standard.onDeadline(),
                standard.nodes(),
                standard.namespaces(),
                standard.exclude(),
                windows);
    }

    DrainStepTest() {
        lease.begin(() -> held);
    }

    private CompletionStage<Void> record(DrainSink.Report report) {
        reports.add(report);
        return CompletableFuture.completedFuture(null);
    }

    private Clock clock() {
        InstantSource time = node::now;
        return time.withZone(ZoneOffset.UTC);
    }

    /** A step, and the commit of what it reported. */
    private Optional<Duration> run() {
        reports.clear();
        Optional<Duration> next = step.run(node.state());
        if (commits) {
            reports.forEach(report -> node.handle(new HealthSignal.DrainReported(
                    node.nextMetadata(), report.nodeUid(), report.phase(), report.jobs(), report.message())));
            admission.committed("node-1", node.state().acting().drain());
        }
        return next;
    }

    private Phase phase() {
        return node.state().acting().drain().phase();
    }

    @Test
    void aDrainBeginsInAMaintenanceWindowAndGoesOnAfterIt() {
        // Given a Sunday, and a window on another day
        windows = new MaintenanceWindows(List.of(MaintenanceWindow.parse("Mon 02:00-06:00 UTC")));
        run();
        assertThat(phase()).isEqualTo(Phase.WAITING);
        assertThat(node.state().acting().drain().message())
                .isEqualTo("waits for a maintenance window: Mon 02:00-06:00 UTC");
        // When
        node.advance(Duration.ofHours(16));
        run();
        assertThat(phase()).isEqualTo(Phase.ACTIVE);
        // Then
        run();
        node.advance(Duration.ofHours(5));
        run();
        assertThat(pods.calls).containsExactly("notice a", "evict a");
    }

    @Test
    void aNodeIsDrainedAfterNotice() {
        run();
        assertThat(phase()).isEqualTo(Phase.ACTIVE);
        assertThat(pods.calls).isEmpty();

        run();
        assertThat(pods.calls).containsExactly("notice a");

        node.advance(NOTICE.plusSeconds(1));
        run();
        assertThat(pods.calls).containsExactly("notice a", "evict a");

        run();
        assertThat(phase()).isEqualTo(Phase.DRAINED);
        assertThat(pods.pods).extracting(pod -> pod.name().name()).containsExactly("b");
    }

    /** Nobody is asked to repair it before the drain is over. */
    @Test
    void nodeWithoutAPodThatHasToLeaveIsDrainedAtOnce() {
        pods.pods.removeFirst();

        run();

        assertThat(phase()).isEqualTo(Phase.DRAINED);
        assertThat(pods.calls).isEmpty();
    }

    @Test
    void nodeThatOptsOutIsNotDrained() {
        node.nodeObserved("uid-1", Map.of(NodeReference.MANAGED, "false"));

        for (int i = 0; i < 3; i++) {
            run();
            node.advance(NOTICE.plusSeconds(1));
        }

        assertThat(pods.calls).isEmpty();
        assertThat(phase()).isEqualTo(Phase.NONE);
    }

    @Test
    void drainEndsOnceTheNodeOptsOut() {
        run();
        run();

        node.nodeObserved("uid-1", Map.of(NodeReference.MANAGED, "false"));
        node.advance(NOTICE.plusSeconds(1));
        run();

        assertThat(phase()).isEqualTo(Phase.STOPPED);
        assertThat(pods.calls).doesNotContain("evict a");
    }

    @Test
    void nothingIsDoneToAPodBeforeTheBeginIsCommitted() {
        commits = false;

        run();
        run();

        assertThat(pods.calls).isEmpty();
    }

    @Test
    void nothingIsDoneWithoutTheLease() {
        run();
        held = false;

        run();

        assertThat(pods.calls).isEmpty();
        assertThat(reports).isEmpty();
    }

    @Test
    void noPodIsEvictedWhileTheFleetIsFrozen() {
        // Given
        run();
        run();
        assertThat(pods.calls).containsExactly("notice a");

        // When
        freeze = Optional.of("frozen: network maintenance");
        node.advance(NOTICE.plusSeconds(1));
        Optional<Duration> next = run();

        // Then
        assertThat(pods.calls).containsExactly("notice a");
        assertThat(next).isPresent();

        // When
        freeze = Optional.empty();
        run();

        // Then
        assertThat(pods.calls).containsExactly("notice a", "evict a");
    }

    @Test
    void aBudgetThatBlocksIsAskedAgainWithGrowingPauses() {
        run();
        run();
        node.advance(NOTICE.plusSeconds(1));
        pods.response = new PodResponse.Blocked("429 budget of team", Optional.of(Duration.ofSeconds(10)));

        var askedAt = new ArrayList<Instant>();
        Instant end = node.now().plus(Duration.ofMinutes(5));
        while (node.now().isBefore(end)) {
            int before = pods.calls.size();
            Instant at = node.now();
            Duration next = run().orElseThrow();
            if (pods.calls.size() > before) {
                askedAt.add(at);
            }
            node.advance(next);
        }

        assertThat(askedAt).hasSizeBetween(5, 9);
        assertThat(Duration.between(askedAt.getFirst(), askedAt.get(1))).isGreaterThanOrEqualTo(Duration.ofSeconds(10));
        assertThat(Duration.between(askedAt.get(askedAt.size() - 2), askedAt.getLast()))
                .isGreaterThanOrEqualTo(Duration.ofMinutes(1));
        assertThat(node.state().acting().drain().message()).contains("team/a").contains("429 budget of team");
    }

    @Test
    void aDrainThatIsNotNeededAnyMoreTakesItsNoticesBack() {
        run();
        run();
        node.taintRemoved();

        run();

        assertThat(pods.calls).containsExactly("notice a", "withdraw a");
        assertThat(phase()).isEqualTo(Phase.STOPPED);
    }

    @Test
    void whatHoldsTheDrainBackIsReportedOnce() {
        admission.admit("node-8", List.of(), DrainSettings.DEFAULT, Instant.now());
        admission.admit("node-9", List.of(), DrainSettings.DEFAULT, Instant.now());

        run();
        assertThat(phase()).isEqualTo(Phase.WAITING);
        run();
        assertThat(reports).isEmpty();
    }

    @Test
    void jobThatLostPodsHereIsProtectedWhateverTheNodeDoesNext() {
        // Given a drain that is over
        pods.pods.set(0, TestPods.ofJob("a", "train"));
        run();
        run();
        node.advance(NOTICE.plusSeconds(1));
        run();
        run();
        assertThat(phase()).isEqualTo(Phase.DRAINED);

        // When pods of another job have to leave, and wait
        pods.pods.add(TestPods.ofJob("c", "other"));
        windows = new MaintenanceWindows(List.of(MaintenanceWindow.parse("Mon 02:00-06:00 UTC")));
        node.advance(Duration.ofMinutes(1));
        run();
        assertThat(phase()).isEqualTo(Phase.WAITING);

        // Then
        assertThat(admissionOfAnotherNode("team/Job/train"))
                .contains("waits: job team/Job/train lost pods on node node-1");

        // When they may leave
        windows = MaintenanceWindows.ANY_TIME;
        run();
        assertThat(phase()).isEqualTo(Phase.ACTIVE);

        // Then
        assertThat(admissionOfAnotherNode("team/Job/train")).isNotEmpty();
        assertThat(admissionOfAnotherNode("team/Job/other")).isNotEmpty();
    }

    @Test
    void nodeThatOnlyWaitsProlongsNoIntervalOfAJob() {
        // Given
        pods.pods.set(0, TestPods.ofJob("a", "train"));
        run();
        run();
        node.advance(NOTICE.plusSeconds(1));
        run();
        run();
        pods.pods.add(TestPods.ofJob("c", "other"));
        windows = new MaintenanceWindows(List.of(MaintenanceWindow.parse("Mon 02:00-06:00 UTC")));

        // When
        node.advance(DrainSettings.DEFAULT.times().jobInterval().minusSeconds(1));
        run();
        assertThat(phase()).isEqualTo(Phase.WAITING);
        node.advance(Duration.ofSeconds(2));

        // Then
        assertThat(admissionOfAnotherNode("team/Job/train")).isEmpty();
    }

    private Optional<String> admissionOfAnotherNode(String job) {
        Optional<String> refusal = admission.admit("node-2", List.of(job), settings(), node.now());
        admission.withdraw("node-2");
        return refusal;
    }

    /** Pods of one node in memory. */
    private static final class FakePods implements PodClient {
        private final List<PodOnNode> pods;
        private final List<String> calls = new ArrayList<>();
        private PodResponse response = new PodResponse.Done();

        FakePods(PodOnNode... pods) {
            this.pods = new ArrayList<>(List.of(pods));
        }

        @Override
        public PodList onNode(String node) {
            return new PodList.Listed(pods);
        }

        @Override
        public PodResponse giveNotice(PodOnNode pod, Instant evictionAt, String message) {
            calls.add("notice " + pod.name().name());
            pods.set(pods.indexOf(pod), TestPods.noticed(pod, evictionAt));
            return new PodResponse.Done();
        }

        @Override
        public PodResponse withdrawNotice(PodOnNode pod) {
            calls.add("withdraw " + pod.name().name());
            return new PodResponse.Done();
        }

        @Override
        public PodResponse evict(PodOnNode pod) {
            calls.add("evict " + pod.name().name());
            if (response instanceof PodResponse.Done) {
                pods.remove(pod);
            }
            return response;
        }

        @Override
        public PodResponse delete(PodOnNode pod) {
            calls.add("delete " + pod.name().name());
            return new PodResponse.Done();
        }
    }
}
