package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.fault.FaultCauseState;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.Observations;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.nodedaemon.model.fault.WithdrawalDecision;
import io.gpufleet.nodedaemon.model.fault.XidSubcode;
import io.gpufleet.proto.health.v1.Fault;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What the centre is told about a fault, so that it does not contradict the daemon. */
class HealthMessageMapperTest {
    private static final String GPU = "GPU-0";

    private static Fault mapped(FaultCode code, Reading<RecoveryAction> action, WithdrawalDecision withdrawal) {
        return HealthMessageMapper.fault(new OpenFault(
                new FaultKey(GPU, code),
                new OpenFault.Subject(
                        "",
                        "H100",
                        new Reading.Unavailable<>("unsupported"),
                        new XidSubcode("NETIR_LINK_EVT", XidSubcode.RepairNeed.REPAIR)),
                Observations.restored(Instant.EPOCH, 1, "printed", Set.of(FaultOrigin.KERNEL_LOG)),
                action,
                withdrawal,
                new FaultCauseState.Monitored()));
    }

    @ParameterizedTest
    @CsvSource({
        "KIND, true, WITHDRAWAL_RULE_KIND",
        "RECOVERY_ACTION, true, WITHDRAWAL_RULE_RECOVERY_ACTION",
        "SUBCODE, true, WITHDRAWAL_RULE_SUBCODE",
        "NODE_SETTINGS, false, WITHDRAWAL_RULE_NODE_SETTINGS"
    })
    void ruleThatDecidedAndTheErrorThatTheKernelNamesArePublished(
            WithdrawalDecision.Rule rule, boolean withdraws, String published) {
        Fault fault = mapped(
                new FaultCode.Xid(149),
                new Reading.Known<>(RecoveryAction.NONE),
                new WithdrawalDecision(withdraws, rule));

        assertThat(fault.getXid()).isEqualTo(149);
        assertThat(fault.getWithdraws()).isEqualTo(withdraws);
        assertThat(fault.getWithdrawalRule()).hasToString(published);
        assertThat(fault.getSubcode()).isEqualTo("NETIR_LINK_EVT");
    }

    @ParameterizedTest
    @EnumSource(RecoveryAction.class)
    void recoveryActionIsPublishedAlsoOneThatIsUnknown(RecoveryAction action) {
        Fault fault = mapped(
                new FaultCode.Xid(79),
                new Reading.Known<>(action),
                new WithdrawalDecision(true, WithdrawalDecision.Rule.KIND));

        assertThat(fault.getRecoveryAction()).hasToString("RECOVERY_ACTION_" + action);
    }

    @ParameterizedTest
    @EnumSource(
            value = FaultKind.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"UNKNOWN", "XID", "SXID", "RECOVERY_ACTION"})
    void everyKindWithoutACodeHasItsNameOnTheWire(FaultKind kind) {
        Fault fault = mapped(
                new FaultCode.WithoutCode(kind),
                new Reading.Unavailable<>("not polled yet"),
                new WithdrawalDecision(false, WithdrawalDecision.Rule.KIND));

        assertThat(fault.getKind()).hasToString("FAULT_KIND_" + kind);
    }

    @Test
    void longMessageIsCutBetweenCharacters() {
        OpenFault open = new OpenFault(
                new FaultKey(GPU, new FaultCode.Xid(79)),
                new OpenFault.Subject("", "H100", new Reading.Unavailable<>("unsupported")),
                Observations.restored(Instant.EPOCH, 1, "é".repeat(400), Set.of(FaultOrigin.POLL)),
                new Reading.Unavailable<>("not polled yet"),
                new WithdrawalDecision(true, WithdrawalDecision.Rule.KIND),
                new FaultCauseState.Monitored());

        assertThat(HealthMessageMapper.fault(open).getMessage()).isEqualTo("é".repeat(254));
    }
}
