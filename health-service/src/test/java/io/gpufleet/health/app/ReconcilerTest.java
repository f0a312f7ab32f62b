package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReconcilerTest {
    private final FakeNodeClient nodes = new FakeNodeClient();
    private final RecordingSignalSink signals = new RecordingSignalSink();
    private final CurrentLease lease = new CurrentLease();
    private final CatchUpStatus backlog = new CatchUpStatus();
    private final Reconciler reconciler = new Reconciler(
            new NodeReconciler(
                    nodes, signals, lease, new ReconcileCounters(), Clock.systemUTC(), Duration.ofSeconds(10)),
            signals,
            lease,
            new VerdictToNodeLatency(System::nanoTime, (_, _) -> {}),
            backlog,
            Duration.ofHours(1));
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard())
            .announced("gpu-0", "gpu-1")
            .nodeObserved("uid-1")
            .xid("gpu-0", 79);

    private void begin() {
        reconciler.begin(() -> true, List.of());
    }

    @AfterEach
    void close() {
        reconciler.close();
    }

    @Test
    void standbyPatchesNothingUntilItsTermBegins() {
        // Given
        reconciler.nodeChanged(FakeNodeClient.NODE);
        assertThat(nodes.calls).isEmpty();

        // When
        reconciler.begin(() -> true, List.of(scenario.verdict()));

        // Then
        await().untilAsserted(() -> assertThat(nodes.node().taints()).containsExactly(Taint.unhealthy("Xid79")));
    }

    @Test
    void newVerdictIsAppliedAtOnce() {
        begin();
        reconciler.verdictCommitted(scenario.verdict());
        await().untilAsserted(() -> assertThat(nodes.node().taints()).isNotEmpty());

        reconciler.verdictCommitted(scenario.cleared("gpu-0", FaultCode.xid(79)).verdict());

        await().untilAsserted(() -> assertThat(nodes.node().taints()).isEmpty());
    }

    @Test
    void failedPatchIsRetried() {
        begin();
        nodes.responses.add(new NodeResponse.Unavailable("connection refused"));

        reconciler.verdictCommitted(scenario.verdict());

        await().untilAsserted(() -> assertThat(nodes.node().taints()).containsExactly(Taint.unhealthy("Xid79")));
    }

    @Test
    void forgottenNodeLeavesNothingBehind() {
        // Given
        begin();
        reconciler.verdictCommitted(scenario.verdict());
        await().untilAsserted(() ->
                assertThat(reconciler.outcome(FakeNodeClient.NODE)).isEqualTo("as desired"));

        // When
        reconciler.forget(FakeNodeClient.NODE);

        // Then
        assertThat(reconciler.tracks(FakeNodeClient.NODE)).isFalse();
        await().untilAsserted(() ->
                assertThat(reconciler.outcome(FakeNodeClient.NODE)).isEqualTo("not reconciled yet"));
    }

    @Test
    void nodeIsNotPatchedBeforeItsBacklogIsRead() {
        // Given
        backlog.begin();
        begin();
        reconciler.verdictCommitted(scenario.verdict());
        backlog.read(_ -> false);
        assertThat(reconciler.tracks(FakeNodeClient.NODE)).isTrue();
        assertThat(nodes.node().unhealthyTaint()).isEmpty();
        assertThat(reconciler.outcome(FakeNodeClient.NODE)).contains("before the events that waited");

        // When
        backlog.read(FakeNodeClient.NODE::equals);

        // Then
        await().untilAsserted(() -> assertThat(nodes.node().unhealthyTaint()).isPresent());
    }

    @Test
    void standbyTellsThatItIsOne() {
        assertThat(reconciler.outcome(FakeNodeClient.NODE)).contains("this replica is a standby");

        begin();
        reconciler.end();

        assertThat(reconciler.outcome(FakeNodeClient.NODE)).contains("this replica is a standby");
    }

    @Test
    void verdictOfAFormerTermIsDroppedWhenItIsNotCommittedAnyMore() {
        // Given
        reconciler.begin(() -> true, List.of(scenario.verdict()));
        await().untilAsserted(() ->
                assertThat(reconciler.outcome(FakeNodeClient.NODE)).isEqualTo("as desired"));
        reconciler.end();

        // When
        begin();

        // Then
        assertThat(reconciler.tracks(FakeNodeClient.NODE)).isFalse();
        await().untilAsserted(() ->
                assertThat(reconciler.outcome(FakeNodeClient.NODE)).isEqualTo("not reconciled yet"));
    }

    @Test
    void patchIsMadeOnceTheLeaseIsHeldAgain() {
        // Given
        var held = new AtomicBoolean();
        reconciler.begin(held::get, List.of(scenario.verdict()));
        await().untilAsserted(() ->
                assertThat(reconciler.outcome(FakeNodeClient.NODE)).contains("may not act now"));
        assertThat(nodes.calls).isEmpty();

        // When
        held.set(true);

        // Then
        await().untilAsserted(() -> assertThat(nodes.node().taints()).containsExactly(Taint.unhealthy("Xid79")));
    }

    @Test
    void nodeWithoutTaintAndAnnotationIsTaintedAgainWhenItChanges() {
        // Given
        begin();
        reconciler.verdictCommitted(scenario.verdict());
        await().untilAsserted(() -> assertThat(nodes.calls).contains("event Xid79"));

        // When
        nodes.change(new FakeNodeClient().node());
        nodes.syncWatch();
        reconciler.nodeChanged(FakeNodeClient.NODE);

        // Then
        await().untilAsserted(() -> assertThat(nodes.node().taints()).containsExactly(Taint.unhealthy("Xid79")));
    }

    @Test
    void reconcilerDoesNothingAfterItsTerm() {
        begin();
        await().until(() -> nodes.calls.contains("warm-up"));
        nodes.calls.clear();
        reconciler.end();
        reconciler.verdictCommitted(scenario.verdict());
        reconciler.nodeDeleted(FakeNodeClient.NODE, "uid-1");

        assertThat(nodes.calls).isEmpty();
        assertThat(signals.recorded).isEmpty();
    }
}
