package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.fault.DaemonWithdrawal;
import io.gpufleet.health.model.fault.DaemonWithdrawal.Rule;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.nodepatch.DesiredNode;
import io.gpufleet.health.model.policy.TestPolicies;
import org.junit.jupiter.api.Test;

/** Daemon and policy do not contradict each other about a device. */
class OneJudgementTest {
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");

    @Test
    void benignXidThatTheNodeSettingsEnforceWithdraws() {
        scenario.fault("gpu-0", FaultCode.xid(13), new DaemonWithdrawal(true, Rule.NODE_SETTINGS));

        assertThat(scenario.verdict().withdrawn()).hasSize(1);
        assertThat(scenario.lastDecisions().getFirst().rule()).isEqualTo("test/xid-13/node-settings");
    }

    @Test
    void severeXidThatTheNodeSettingsIgnoreWithdrawsNothing() {
        scenario.fault("gpu-0", FaultCode.xid(79), new DaemonWithdrawal(false, Rule.NODE_SETTINGS));

        assertThat(scenario.verdict().withdrawn()).isEmpty();
        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.health("gpu-0").state()).isEqualTo(HealthState.SUSPECT);
    }

    @Test
    void subcodeDecidesInBothDirections() {
        scenario.fault("gpu-0", FaultCode.xid(48), new DaemonWithdrawal(false, Rule.SUBCODE))
                .fault("gpu-1", FaultCode.xid(63), new DaemonWithdrawal(true, Rule.SUBCODE));

        assertThat(scenario.verdict().withdrawn())
                .extracting(Verdict.DeviceVerdict::uuid)
                .containsExactly("gpu-1");
    }

    @Test
    void policyMayBeStricterThanTheKindOfTheFault() {
        scenario.fault("gpu-0", FaultCode.xid(74), new DaemonWithdrawal(false, Rule.KIND));

        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void settingsThatChangeWhileTheFaultIsOpenAreFollowed() {
        scenario.fault("gpu-0", FaultCode.xid(48), new DaemonWithdrawal(true, Rule.KIND))
                .fault("gpu-0", FaultCode.xid(48), new DaemonWithdrawal(false, Rule.NODE_SETTINGS));

        assertThat(scenario.verdict().withdrawn()).isEmpty();
    }

    @Test
    void nodeThatOffersNothingIsNeverHealthy() {
        for (String gpu : new String[] {"gpu-0", "gpu-1"}) {
            scenario.offered(gpu, false);
        }

        DesiredNode desired = DesiredNode.of(scenario.verdict());
        assertThat(desired.condition().status()).isEqualTo("True");
        assertThat(desired.label()).isEqualTo("degraded");
    }
}
