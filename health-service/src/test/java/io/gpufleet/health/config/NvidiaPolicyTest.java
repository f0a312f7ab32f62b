package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the bundled policy does to a node with two GPUs. */
class NvidiaPolicyTest {
    private final NodeScenario scenario = new NodeScenario(PolicyFile.load("nvidia")).announced("gpu-0", "gpu-1");

    @Test
    void imexDomainOfAnIdleNodeWithdrawsAndTaintsNothing() {
        for (String gpu : new String[] {"gpu-0", "gpu-1"}) {
            scenario.fault(
                    gpu, FaultCode.recovery(RecoveryAction.RECOVER_IMEX_DOMAIN), RecoveryAction.RECOVER_IMEX_DOMAIN);
        }

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().withdrawn()).isEmpty();
        assertThat(scenario.health("gpu-0").state()).isEqualTo(HealthState.SUSPECT);
    }

    @Test
    void recoveryActionThatOnlyNewerDriversKnowWithdraws() {
        scenario.fault("gpu-0", FaultCode.recovery(RecoveryAction.UNKNOWN), RecoveryAction.UNKNOWN);

        assertThat(scenario.verdict().withdrawn()).hasSize(1);
    }

    @Test
    void rebootOfTheSystemIsRecommendedByThatName() {
        scenario.fault("gpu-0", FaultCode.recovery(RecoveryAction.SYSTEM_REBOOT), RecoveryAction.SYSTEM_REBOOT);

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().health().recommendedAction()).isEqualTo(RecommendedAction.REBOOT);
    }

    @Test
    void resetOfTheBusWithdrawsTheGpuAndRecommendsItsReset() {
        scenario.fault("gpu-0", FaultCode.recovery(RecoveryAction.BUS_RESET), RecoveryAction.BUS_RESET);

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().withdrawn()).hasSize(1);
        assertThat(scenario.health("gpu-0").recommendedAction()).isEqualTo(RecommendedAction.RESET_GPU);
    }

    @Test
    void imexDomainDoesNotRaiseABenignXid() {
        scenario.fault("gpu-0", FaultCode.xid(13), RecoveryAction.RECOVER_IMEX_DOMAIN);

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.health("gpu-0").state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void countersOfAContainedErrorDoNotOverruleItsXid() {
        scenario.xid("gpu-0", 94)
                .fault("gpu-0", FaultCode.of(FaultKind.ECC_UNCORRECTABLE), RecoveryAction.NONE)
                .fault("gpu-0", FaultCode.of(FaultKind.ROW_REMAP), RecoveryAction.NONE);

        assertThat(scenario.verdict().withdrawn()).isEmpty();
        assertThat(scenario.health("gpu-0").state()).isEqualTo(HealthState.SUSPECT);
    }

    @Test
    void suspectDeviceDoesNotOverruleTheRecommendedActionOfTheFaultyOne() {
        scenario.fault("gpu-1", FaultCode.of(FaultKind.PCIE), RecoveryAction.NONE)
                .xid("gpu-0", 95);

        assertThat(scenario.verdict().health().recommendedAction()).isEqualTo(RecommendedAction.RESET_GPU);
    }

    @Test
    void driverRolloutTaintsNothing() {
        scenario.fault("", FaultCode.of(FaultKind.DRIVER), RecoveryAction.UNSPECIFIED);
        assertThat(scenario.verdict().trusted()).isTrue();

        scenario.advance(Duration.ofMinutes(29)).tick();
        assertThat(scenario.verdict().trusted()).isTrue();

        scenario.cleared("", FaultCode.of(FaultKind.DRIVER));
        assertThat(scenario.verdict().health().state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void driverThatStaysAwayTaintsTheNode() {
        scenario.fault("", FaultCode.of(FaultKind.DRIVER), RecoveryAction.UNSPECIFIED);

        scenario.advance(Duration.ofMinutes(31)).tick();

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().health().reason()).isEqualTo("Driver");
    }
}
