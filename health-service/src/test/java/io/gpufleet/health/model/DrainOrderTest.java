package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.DrainReported;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainOrder;
import io.gpufleet.health.model.drain.DrainProgress.Phase;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which pods the policy asks to leave, and when that holds. */
class DrainOrderTest {
    private static final PermittedActions OBSERVE = new PermittedActions() {
        @Override
        public Mode mode(Map<String, String> labels) {
            return Mode.OBSERVE;
        }

        @Override
        public Optional<String> refusesTaint() {
            return Optional.empty();
        }

        @Override
        public Optional<String> refusesDevices(int more) {
            return Optional.empty();
        }
    };

    private static NodeScenario node(DrainMode mode) {
        return new NodeScenario(TestPolicies.draining(mode))
                .nodeObserved("uid-1")
                .announced("gpu-0", "gpu-1");
    }

    @Test
    void nothingIsDrainedByDefault() {
        var node = new NodeScenario(TestPolicies.standard())
                .nodeObserved("uid-1")
                .announced("gpu-0", "gpu-1")
                .xid("gpu-0", 79);

        assertThat(node.state().drainOrder()).isEqualTo(DrainOrder.NONE);
    }

    @Test
    void aResetDrainsTheHoldersOfTheGpu() {
        var node = node(DrainMode.GPU_PODS).xid("gpu-0", 48);

        assertThat(node.state().drainOrder()).isEqualTo(DrainOrder.ofDevice("gpu-0"));
        assertThat(node.lastDecisions()).extracting(Decision::action).contains("drain pods that hold gpu-0");
    }

    @Test
    void aRebootDrainsTheHoldersOfEveryGpu() {
        var node = node(DrainMode.GPU_PODS).xid("gpu-0", 79);

        assertThat(node.state().drainOrder()).isEqualTo(DrainOrder.ofNode(DrainMode.GPU_PODS));
    }

    @Test
    void aNodeThatIsNotTaintedIsNotDrained() {
        var node = node(DrainMode.GPU_PODS).xid("gpu-0", 79).taintRemoved();

        assertThat(node.state().drainOrder()).isEqualTo(DrainOrder.NONE);
        assertThat(node.lastDecisions()).extracting(Decision::action).contains("end drain");
    }

    @Test
    void modeObserveSaysWhatItWouldDrain() {
        var node = node(DrainMode.ALL).with(OBSERVE).xid("gpu-0", 79);

        assertThat(node.state().drainOrder()).isEqualTo(DrainOrder.NONE);
        assertThat(node.lastDecisions()).anySatisfy(decision -> {
            assertThat(decision.action()).isEqualTo("none, would drain every pod");
            assertThat(decision.outcome().status()).isEqualTo(Decision.Status.OBSERVED);
        });
    }

    @Test
    void aDrainEndsWithItsFault() {
        var node = node(DrainMode.GPU_PODS).xid("gpu-0", 48).cleared("gpu-0", FaultCode.xid(48));

        assertThat(node.state().drainOrder()).isEqualTo(DrainOrder.NONE);
    }

    @Test
    void theProgressIsKeptAndEachStepIsADecision() {
        var node = node(DrainMode.GPU_PODS).xid("gpu-0", 48);

        node.handle(report(node, "uid-1", Phase.ACTIVE, "begins"));
        var since = node.now();
        node.advance(Duration.ofMinutes(5)).handle(report(node, "uid-1", Phase.ACTIVE, "1 pods have to leave: team/a"));

        assertThat(node.state().acting().drain().since()).isEqualTo(since);
        assertThat(node.lastDecisions()).singleElement().satisfies(decision -> {
            assertThat(decision.action()).isEqualTo("drain active");
            assertThat(decision.outcome().reason()).isEqualTo("1 pods have to leave: team/a");
        });
        node.handle(report(node, "uid-1", Phase.ACTIVE, "1 pods have to leave: team/a"));
        assertThat(node.lastDecisions()).isEmpty();
    }

    @Test
    void aReportAboutAnotherNodeObjectIsIgnored() {
        var node = node(DrainMode.GPU_PODS).xid("gpu-0", 48);

        node.handle(report(node, "uid-of-another", Phase.ACTIVE, "begins"));

        assertThat(node.state().acting().drain().active()).isFalse();
    }

    private static DrainReported report(NodeScenario node, String uid, Phase phase, String message) {
        return new DrainReported(node.nextMetadata(), uid, phase, List.of("team/Job/train"), message);
    }
}
