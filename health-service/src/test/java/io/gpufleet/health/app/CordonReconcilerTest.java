package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.policy.NodeAction;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The reconciler with a rule that cordons: one patch, and a person's decision stays. */
class CordonReconcilerTest {
    private final FakeNodeClient nodes = new FakeNodeClient();
    private final RecordingSignalSink signals = new RecordingSignalSink();
    private final CurrentLease lease = new CurrentLease();
    private Instant now = NodeScenario.START;
    private final NodeReconciler step = new NodeReconciler(
            nodes, signals, lease, new ReconcileCounters(), new ScenarioClock(), Duration.ofSeconds(10));
    private final NodeScenario scenario = new NodeScenario(TestPolicies.with(NodeAction.CORDON))
            .announced("gpu-0", "gpu-1")
            .nodeObserved("uid-1")
            .xid("gpu-0", 79);

    @BeforeEach
    void beginTheTerm() {
        lease.begin(() -> true);
    }

    private void reconcile() {
        step.reconcile(scenario.verdict());
    }

    private boolean unschedulable() {
        return nodes.node().facts().unschedulable();
    }

    @Test
    void cordonComesAndGoesInOnePatchEach() {
        reconcile();

        assertThat(nodes.calls).containsExactly("node", "condition", "event Xid79");
        assertThat(unschedulable()).isTrue();
        assertThat(nodes.node().taints()).isEmpty();
        nodes.calls.clear();
        reconcile();
        assertThat(nodes.calls).isEmpty();

        scenario.cleared("gpu-0", FaultCode.xid(79));
        reconcile();

        assertThat(nodes.calls).first().isEqualTo("node");
        assertThat(unschedulable()).isFalse();
    }

    @Test
    void nodeThatAPersonUncordonsStaysSchedulable() {
        // Given
        reconcile();
        nodes.setUnschedulable(false, "");

        // When
        reconcile();
        now = now.plusSeconds(10);
        reconcile();

        // Then
        assertThat(signals.recorded).contains("override cordon");
        assertThat(signals.removedBy).containsExactly("unknown");
        assertThat(unschedulable()).isFalse();
        scenario.handle(new HealthSignal.OverrideObserved(
                scenario.nextMetadata(), "cordon", "unknown", scenario.state().revision()));
        reconcile();
        assertThat(unschedulable()).isFalse();
        assertThat(nodes.node().applied().cordon()).isFalse();
    }

    @Test
    void nodeThatAPersonCordonedStaysCordoned() {
        nodes.setUnschedulable(true, "kubectl-cordon");

        reconcile();
        assertThat(step.outcome(FakeNodeClient.NODE)).contains("spec.unschedulable");
        scenario.cleared("gpu-0", FaultCode.xid(79));
        reconcile();

        assertThat(unschedulable()).isTrue();
    }

    private final class ScenarioClock extends Clock {
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
