package io.gpufleet.health.model.nodepatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.fault.DaemonWithdrawal;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.model.fault.FaultKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A daemon reports a fault, then what it offers: the Node is patched once for both, and once when both end. */
class OneFaultOnePatchTest {
    private static final DaemonWithdrawal WITHDRAWN = new DaemonWithdrawal(true, DaemonWithdrawal.Rule.KIND);
    private static final FaultCode OFF_THE_BUS = FaultCode.xid(79);
    private static final FaultCode CONTAINED = FaultCode.xid(63);
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

    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");
    private final List<DesiredNode> patches = new ArrayList<>(List.of(desired()));

    private DesiredNode desired() {
        DesiredNode now = DesiredNode.of(scenario.verdict());
        return new DesiredNode(
                NodeState.Revisions.NONE,
                now.nodeUid(),
                now.taint(),
                now.cordon(),
                now.label(),
                now.recommendedAction(),
                now.condition());
    }

    private void then() {
        if (!desired().equals(patches.getLast())) {
            patches.add(desired());
        }
    }

    private void faultAndItsEnd(FaultCode code) {
        scenario.fault("gpu-0", code, WITHDRAWN);
        then();
        scenario.offered("gpu-0", false);
        then();
        assertThat(patches).as("fault").hasSize(2);

        scenario.cleared("gpu-0", code);
        then();
        scenario.offered("gpu-0", true);
        then();
        assertThat(patches).as("fault and end").hasSize(3);
        assertThat(patches.getLast().isEmpty()).isTrue();
    }

    @Test
    void faultThatTaintsIsOnePatchAndItsEndAnother() {
        faultAndItsEnd(OFF_THE_BUS);
    }

    @Test
    void faultThatOnlyItsDaemonWithdrawsIsOnePatchAndItsEndAnother() {
        faultAndItsEnd(CONTAINED);
    }

    @Test
    void observedFaultIsOnePatchAndItsEndAnother() {
        scenario.with(OBSERVE);

        faultAndItsEnd(OFF_THE_BUS);
    }

    @Test
    void driverThatGoesIsOnePatchAndItsReturnAnother() {
        FaultCode driver = FaultCode.of(FaultKind.DRIVER);
        scenario.fault("", driver, new DaemonWithdrawal(false, DaemonWithdrawal.Rule.KIND));
        then();
        scenario.offered("gpu-0", false);
        then();
        scenario.offered("gpu-1", false);
        then();
        assertThat(patches).hasSize(2);

        scenario.cleared("", driver);
        then();
        scenario.offered("gpu-0", true);
        then();
        scenario.offered("gpu-1", true);
        then();
        assertThat(patches).hasSize(3);
    }

    @Test
    void labelStaysWhileTheDaemonKeepsTheDeviceBackForAnotherReason() {
        scenario.fault("gpu-0", OFF_THE_BUS, WITHDRAWN).fault("gpu-0", FaultCode.xid(48), WITHDRAWN);

        scenario.cleared("gpu-0", OFF_THE_BUS);
        assertThat(desired().label()).isEqualTo("degraded");

        scenario.cleared("gpu-0", FaultCode.xid(48)).offered("gpu-0", false);
        assertThat(desired().label()).as("a device node is missing").isEqualTo("degraded");
    }

    @Test
    void snapshotIsBelievedOverWhatFollowsFromItsFaults() {
        scenario.handle(new HealthSignal.FaultsOpen(
                scenario.nextMetadata(), NodeScenario.INCARNATION, List.of(), Map.of("gpu-1", false), 0));

        assertThat(desired().label()).isEqualTo("degraded");
    }
}
