package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultPolicy;
import io.gpufleet.nodedaemon.model.fault.XidSubcode;
import io.gpufleet.nodedaemon.model.fault.XidSubcode.RepairNeed;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import io.gpufleet.xid.Withdrawals;
import io.gpufleet.xid.XidImmediateAction;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The local policy withdraws what the table withdraws that is generated from the policy of the health-service. */
class OneJudgementTest {
    private static final Withdrawals TABLE = Withdrawals.standard();

    private final FaultPolicy policy =
            new FaultPolicy(XidPolicy.withdrawing(), Duration.ofMinutes(5), XidOverrides.NONE);

    private boolean withdraws(FaultCode fault) {
        return policy.decide(fault, XidSubcode.NONE).withdraws();
    }

    @Test
    void xidsAreThoseOfTheTable() {
        for (int xid = 1; xid < 300; xid++) {
            assertThat(withdraws(new FaultCode.Xid(xid)))
                    .as("XID %d", xid)
                    .isEqualTo(TABLE.xids().contains(xid));
        }
    }

    @Test
    void otherFaultsAreThoseOfTheTable() {
        Set<String> withdrawn = Arrays.stream(FaultKind.values())
                .filter(FaultKind::withoutCode)
                .filter(kind -> withdraws(new FaultCode.WithoutCode(kind)))
                .map(OneJudgementTest::slug)
                .collect(Collectors.toSet());

        assertThat(withdrawn).isEqualTo(TABLE.kinds());
    }

    @Test
    void recoveryActionsAreThoseOfTheTable() {
        Set<String> withdrawn = Arrays.stream(RecoveryAction.values())
                .filter(action -> withdraws(new FaultCode.RecoveryRequested(action)))
                .map(OneJudgementTest::slug)
                .collect(Collectors.toSet());

        assertThat(withdrawn).isEqualTo(TABLE.recoveryActions());
    }

    @Test
    void errorsOfAnXidAreRepairedByTheActionsOfTheTable() {
        Set<XidImmediateAction> repaired = Arrays.stream(XidImmediateAction.values())
                .filter(action -> XidPolicy.need(action) == RepairNeed.REPAIR)
                .collect(Collectors.toSet());

        assertThat(repaired).isEqualTo(TABLE.actions());
    }

    private static String slug(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
