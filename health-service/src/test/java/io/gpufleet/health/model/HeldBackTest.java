package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.nodepatch.DesiredNode;
import io.gpufleet.health.model.policy.TestPolicies;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What mode observe and full budgets hold back, and what they do not. */
class HeldBackTest {
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard())
            .announced("gpu-0", "gpu-1")
            .with(allowance(Mode.OBSERVE, Integer.MAX_VALUE, true));

    private static PermittedActions allowance(Mode mode, int devices, boolean taint) {
        return new PermittedActions() {
            @Override
            public Mode mode(Map<String, String> labels) {
                return mode;
            }

            @Override
            public Optional<String> refusesTaint() {
                return taint ? Optional.empty() : Optional.of("nodes of pool a");
            }

            @Override
            public Optional<String> refusesDevices(int more) {
                return more <= devices ? Optional.empty() : Optional.of("devices of pool a");
            }
        };
    }

    @Test
    void observedFaultWithdrawsAndTaintsNothing() {
        scenario.xid("gpu-0", 79);

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().withdrawn()).isEmpty();
        assertThat(scenario.lastDecisions())
                .extracting(decision -> decision.outcome().status())
                .containsExactly(Decision.Status.OBSERVED, Decision.Status.OBSERVED);
        assertThat(scenario.lastDecisions())
                .extracting(Decision::action)
                .containsExactly("none, would withdraw device: mode observe", "none, would taint node: mode observe");
    }

    @Test
    void observedFaultIsShownInTheConditionOnly() {
        scenario.xid("gpu-0", 79);

        DesiredNode desired = DesiredNode.of(scenario.verdict());

        assertThat(desired.isEmpty()).isTrue();
        assertThat(desired.condition().status()).isEqualTo("True");
        assertThat(desired.condition().message()).contains("Xid79").contains("would taint: mode observe");
    }

    @Test
    void observedNodeIsTaintedOnceItIsEnforced() {
        scenario.xid("gpu-0", 79).with(PermittedActions.ALL).tick();

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.state().heldBack()).isEmpty();
        assertThat(scenario.lastDecisions())
                .extracting(Decision::action)
                .containsExactly("withdraw device", "taint node");
    }

    @Test
    void commandsOfOperatorsAreCarriedOutInModeObserve() {
        scenario.command(Command.QUARANTINE, "gpu-0").command(Command.QUARANTINE, "");

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().withdrawn()).hasSize(1);
    }

    @Test
    void devicesBeyondTheBudgetStayInService() {
        scenario.with(allowance(Mode.ENFORCE, 1, true))
                .open(NodeScenario.openXid("gpu-0", 48), NodeScenario.openXid("gpu-1", 48));

        assertThat(scenario.verdict().withdrawn()).hasSize(1);
        assertThat(scenario.verdict().trusted()).as("one device is in service").isTrue();
        assertThat(scenario.state().heldBack()).containsOnlyKeys("", "gpu-1");
    }

    /** As the budgets count it before the event in which it is offered and has a fault. */
    @Test
    void deviceThatWasNotOfferedTakesNoRoomTwice() {
        scenario.with(allowance(Mode.ENFORCE, 0, true)).offered("gpu-0", false);

        scenario.openSince(0, Map.of("gpu-0", true), NodeScenario.openXid("gpu-0", 48));
        assertThat(scenario.verdict().withdrawn()).hasSize(1);

        scenario.xid("gpu-1", 48);
        assertThat(scenario.state().heldBack()).as("one that was offered").containsKey("gpu-1");
    }

    @Test
    void heldBackTaintIsAppliedWhenThereIsRoomAndTheFaultIsStillOpen() {
        scenario.with(allowance(Mode.ENFORCE, 8, false)).xid("gpu-0", 79);
        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().heldBack()).isEqualTo("nodes of pool a");

        scenario.with(PermittedActions.ALL).tick();

        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void heldBackTaintOfAClearedFaultIsForgotten() {
        scenario.with(allowance(Mode.ENFORCE, 8, false)).xid("gpu-0", 79).cleared("gpu-0", FaultCode.xid(79));

        scenario.with(PermittedActions.ALL).tick();

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.state().heldBack()).isEmpty();
    }

    @Test
    void taintThatIsAppliedAlreadyNeedsNoRoom() {
        scenario.with(PermittedActions.ALL).xid("gpu-0", 79);

        scenario.with(allowance(Mode.ENFORCE, 0, false)).xid("gpu-0", 54);

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().health().reason()).isEqualTo("Xid54");
    }
}
