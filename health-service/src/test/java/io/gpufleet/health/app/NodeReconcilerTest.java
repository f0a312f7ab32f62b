package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.runtime.workqueue.ReconcileResult;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NodeReconcilerTest {
    private static final Taint BUSY = new Taint("example.com/busy", "", "NoSchedule", "");

    private final FakeNodeClient nodes = new FakeNodeClient();
    private final RecordingSignalSink signals = new RecordingSignalSink();
    private final ReconcileCounters counters = new ReconcileCounters();
    private final ManualClock clock = new ManualClock();
    private final CurrentLease lease = new CurrentLease();
    private final NodeReconciler step =
            new NodeReconciler(nodes, signals, lease, counters, clock, Duration.ofSeconds(10));
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard())
            .announced("gpu-0", "gpu-1")
            .nodeObserved("uid-1")
            .xid("gpu-0", 79);

    @BeforeEach
    void beginTheTerm() {
        lease.begin(() -> true);
    }

    private ReconcileResult reconcile() {
        return step.reconcile(scenario.verdict());
    }

    @Test
    void faultCostsOneNodePatchOneConditionPatchAndNoRead() {
        assertThat(reconcile()).isEqualTo(new ReconcileResult.Done());

        assertThat(nodes.calls).containsExactly("node", "condition", "event Xid79");
        assertThat(nodes.node().taints()).containsExactly(Taint.unhealthy("Xid79"));
        assertThat(signals.recorded).containsExactly("nodePatched true");
    }

    @Test
    void aFrozenFleetChangesNoNodeObjectUntilItIsUnfrozen() {
        step.pausedBy(() -> Optional.of("frozen by ada: new switch"));
        assertThat(reconcile()).isInstanceOf(ReconcileResult.RequeueAfter.class);
        assertThat(nodes.calls).isEmpty();
        assertThat(step.outcome(FakeNodeClient.NODE)).isEqualTo("left alone: frozen by ada: new switch");

        step.pausedBy(Optional::empty);
        reconcile();

        assertThat(nodes.calls).containsExactly("node", "condition", "event Xid79");
    }

    @Test
    void secondReconcileWritesNothing() {
        reconcile();
        nodes.calls.clear();

        assertThat(reconcile()).isEqualTo(new ReconcileResult.Done());
        assertThat(nodes.calls).isEmpty();
    }

    @Test
    void foreignChangeThatTheCacheDoesNotHaveYetCostsNoSecondPatch() {
        // Given
        nodes.setForeignTaintUnseen(BUSY);

        // When
        assertThat(reconcile()).isEqualTo(new ReconcileResult.Done());

        // Then
        assertThat(nodes.calls).containsExactly("node", "condition", "event Xid79");
        assertThat(nodes.node().taints()).containsExactly(BUSY, Taint.unhealthy("Xid79"));
        assertThat(counters.conflicts()).isZero();
    }

    @Test
    void ownFieldChangedMeanwhileIsReadAndPlannedAgain() {
        // Given: another replica applied a newer revision, which the cache does not have yet
        nodes.applyUnseen(new AppliedAnnotation(Long.MAX_VALUE, "Xid48", "unhealthy", "", "by another"));

        // When
        assertThat(reconcile()).isEqualTo(new ReconcileResult.Done());

        // Then
        assertThat(nodes.calls).containsExactly("node", "read");
        assertThat(nodes.node().taints()).isEmpty();
        assertThat(counters.conflicts()).isEqualTo(1);
    }

    @Test
    void patchThatIsRefusedThoughNothingDiffersIsReportedAndNotRepeated() {
        nodes.responses.add(new NodeResponse.Mismatch("422 Node is invalid: metadata.labels"));

        assertThat(reconcile()).isInstanceOf(ReconcileResult.RetryAfter.class);
        assertThat(nodes.calls).containsExactly("node", "read");
        assertThat(signals.recorded).containsExactly("nodePatched false");
        assertThat(step.outcome(FakeNodeClient.NODE)).contains("metadata.labels");
    }

    @Test
    void unavailableApiServerIsRetriedWithBackoff() {
        nodes.responses.add(new NodeResponse.Unavailable("connection refused"));
        assertThat(reconcile()).isEqualTo(ReconcileResult.RetryAfter.backoff());
        assertThat(step.outcome(FakeNodeClient.NODE)).contains("connection refused");
    }

    @Test
    void apiServerThatAsksToWaitIsLeftAloneAtLeastSoLong() {
        nodes.responses.add(new NodeResponse.Unavailable("429 too many requests", Duration.ofSeconds(7)));
        assertThat(reconcile()).isEqualTo(new ReconcileResult.RetryAfter(Duration.ofSeconds(7)));
    }

    @Test
    void rejectionIsReportedWithItsReason() {
        nodes.responses.add(new NodeResponse.Rejected("403 nodes is forbidden"));

        assertThat(reconcile()).isInstanceOf(ReconcileResult.RetryAfter.class);
        assertThat(signals.recorded).containsExactly("nodePatched false");
        assertThat(step.outcome(FakeNodeClient.NODE)).contains("403 nodes is forbidden");
    }

    @Test
    void taintMissingInTwoReadsTenSecondsApartIsAnOverride() {
        // Given
        reconcile();
        nodes.setTaints();

        // When, Then
        assertThat(reconcile()).isEqualTo(new ReconcileResult.RequeueAfter(Duration.ofSeconds(10)));
        clock.advance(Duration.ofSeconds(9));
        assertThat(reconcile()).isEqualTo(new ReconcileResult.RequeueAfter(Duration.ofSeconds(1)));
        assertThat(signals.recorded).doesNotContain("override taint");
        clock.advance(Duration.ofSeconds(1));
        reconcile();
        assertThat(signals.recorded).contains("override taint");
        assertThat(nodes.node().taints()).isEmpty();
    }

    @Test
    void overrideNamesTheClientThatRemovedTheTaint() {
        reconcile();
        nodes.setTaintsBy("kubectl-taint", BUSY);

        reconcile();
        clock.advance(Duration.ofSeconds(10));
        reconcile();

        assertThat(signals.removedBy).containsExactly("kubectl-taint");
        assertThat(nodes.node().unhealthyTaint()).isEmpty();
    }

    @Test
    void removalCountsForTheClientThatWroteTheTaintsFirstNotForALaterWriter() {
        reconcile();
        nodes.setTaintsBy("kubectl-taint", BUSY);
        reconcile();

        nodes.setTaintsBy("autoscaler");
        clock.advance(Duration.ofSeconds(10));
        reconcile();

        assertThat(signals.removedBy).containsExactly("kubectl-taint");
        assertThat(nodes.node().unhealthyTaint()).isEmpty();
    }

    @Test
    void removalThatKubernetesHidesByATaintOfItsOwnIsAnOverride() {
        reconcile();
        nodes.setTaintsBy("kube-controller-manager", BUSY);

        reconcile();
        clock.advance(Duration.ofSeconds(10));
        reconcile();

        assertThat(signals.removedBy).containsExactly("unknown");
        assertThat(nodes.node().unhealthyTaint()).isEmpty();
    }

    @Test
    void taintThatAControllerRemovesIsAppliedAgainThreeTimesAndThenReported() {
        reconcile();
        for (int repair = 0; repair < 3; repair++) {
            wipe();
            assertThat(nodes.node().unhealthyTaint()).as("repair %d", repair).isPresent();
        }

        wipe();

        assertThat(nodes.node().unhealthyTaint()).isEmpty();
        assertThat(step.outcome(FakeNodeClient.NODE)).contains("field manager sweeper");
        assertThat(nodes.calls).endsWith("event TaintRemovedByController");
        assertThat(signals.recorded).noneMatch(line -> line.startsWith("override"));
    }

    private void wipe() {
        nodes.setTaintsBy("sweeper", BUSY);
        reconcile();
        clock.advance(Duration.ofSeconds(10));
        reconcile();
    }

    @Test
    void taintPresentInTheSecondReadIsNoOverride() {
        // Given
        reconcile();
        nodes.setTaints();
        reconcile();

        // When
        nodes.setTaints(Taint.unhealthy("Xid79"));
        clock.advance(Duration.ofSeconds(10));

        // Then
        assertThat(reconcile()).isEqualTo(new ReconcileResult.Done());
        assertThat(signals.recorded).doesNotContain("override taint");
    }

    @Test
    void nodeUidUnknownToTheVerdictIsReported() {
        var unseen = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");

        step.reconcile(unseen.verdict());
        step.reconcile(unseen.verdict());

        assertThat(signals.recorded).containsExactly("nodeObserved uid-1");
    }

    @Test
    void callAfterTheEndOfTheLeaseIsNotMade() {
        // Given: a lease that ends with the first call
        lease.begin(() -> nodes.calls.isEmpty());

        // When
        ReconcileResult result = reconcile();

        // Then
        assertThat(nodes.calls).containsExactly("node");
        assertThat(signals.recorded).isEmpty();
        assertThat(result).isEqualTo(new ReconcileResult.RequeueAfter(Duration.ofSeconds(1)));
        assertThat(step.outcome(FakeNodeClient.NODE)).contains("may not act now");
    }

    @Test
    void eventAndSignalAfterTheEndOfTheLeaseAreNotMade() {
        lease.begin(() -> !nodes.calls.contains("condition"));

        reconcile();

        assertThat(nodes.calls).containsExactly("node", "condition");
        assertThat(signals.recorded).isEmpty();
    }

    @Test
    void nothingIsObservedOrPatchedWithoutALease() {
        // Given
        var unseen =
                new NodeScenario(TestPolicies.standard()).announced("gpu-0").xid("gpu-0", 79);
        lease.end();

        // When
        step.reconcile(unseen.verdict());
        step.warmUp();

        // Then
        assertThat(nodes.calls).isEmpty();
        assertThat(signals.recorded).isEmpty();
    }

    @Test
    void uidNotReportedForLackOfALeaseIsReportedLater() {
        // Given
        var unseen = new NodeScenario(TestPolicies.standard()).announced("gpu-0");
        lease.end();
        step.reconcile(unseen.verdict());

        // When
        lease.begin(() -> true);
        step.reconcile(unseen.verdict());

        // Then
        assertThat(signals.recorded).containsExactly("nodeObserved uid-1");
    }

    @Test
    void overrideIsNotReportedWithoutALease() {
        // Given
        reconcile();
        nodes.setTaints();
        reconcile();
        clock.advance(Duration.ofSeconds(10));

        // When
        lease.end();
        reconcile();

        // Then
        assertThat(signals.recorded).doesNotContain("override taint");
    }

    @Test
    void deletionThatNobodySawIsReported() {
        nodes.delete();

        reconcile();

        assertThat(signals.recorded).containsExactly("nodeDeleted uid-1");
        assertThat(step.outcome(FakeNodeClient.NODE)).isEqualTo("no such Node");
    }

    @Test
    void knownDeletionIsNotReportedAgainUntilTheNodeIsBack() {
        // Given
        scenario.nodeDeleted("uid-1");
        var back = nodes.node();
        nodes.delete();
        reconcile();
        assertThat(signals.recorded).isEmpty();

        // When
        nodes.change(back);
        nodes.syncWatch();
        reconcile();

        // Then
        assertThat(signals.recorded).contains("nodeObserved uid-1");
    }

    @Test
    void recoveryRemovesTheTaintAndRecordsAnEvent() {
        reconcile();
        scenario.cleared("gpu-0", FaultCode.xid(79));

        reconcile();

        assertThat(nodes.node().taints()).isEmpty();
        assertThat(nodes.calls).endsWith("node", "condition", "event GpusHealthy");
    }

    /** A clock that only {@link #advance} moves. */
    private static final class ManualClock extends Clock {
        private Instant now = NodeScenario.START;

        void advance(Duration time) {
            now = now.plus(time);
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    }
}
