package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.scanOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.XidSubcode;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** XIDs that other tools handle differently: the effect of each on a node of two GPUs. */
class XidHandlingTest {
    private static final XidSubcode LINK_DOWN = new XidSubcode("NETIR_LINK_EVT", XidSubcode.RepairNeed.REPAIR);
    private static final XidSubcode BIT_ERRORS = new XidSubcode("NETIR_BER_EVENT", XidSubcode.RepairNeed.NOTHING);

    private final TestNode node = new TestNode(scanOf(2));

    private void bothAreOffered() {
        assertThat(node.healthy()).containsExactly(uuid(0), uuid(1));
    }

    private void onlyTheSecondIsOffered() {
        assertThat(node.healthy()).containsExactly(uuid(1));
    }

    private void dwellPasses() {
        node.advance(TestNode.DWELL.toSeconds() - 1);
        onlyTheSecondIsOffered();
        node.advance(1);
        bothAreOffered();
    }

    @Test
    void xid63WithdrawsNothingUntilTheDriverRequestsAReset() {
        node.xid(0, 63).polls(GpuSampleBuilder.healthyGpu(0).rowRemap(true, false, false));
        bothAreOffered();
        assertThat(node.open()).containsExactly(new FaultCode.Xid(63), new FaultCode.WithoutCode(FaultKind.ROW_REMAP));

        // When the pending remap makes the driver request a reset
        node.advance(10)
                .polls(GpuSampleBuilder.healthyGpu(0)
                        .rowRemap(true, false, false)
                        .recoveryAction(RecoveryAction.GPU_RESET));
        onlyTheSecondIsOffered();

        // Then the reset clears the fault
        node.causeResolved(0, 63).advance(10).polls(GpuSampleBuilder.healthyGpu(0));
        dwellPasses();
        assertThat(node.open()).isEmpty();
    }

    @Test
    void xid94IsContainedToItsApplicationAndXid95IsNot() {
        node.xid(0, 94);
        bothAreOffered();
        assertThat(node.published(NodeFact.FaultObserved.class)).hasSize(1);

        node.xid(0, 95);
        onlyTheSecondIsOffered();
    }

    @Test
    void xid109NeedsAReset() {
        node.xid(0, 109);
        onlyTheSecondIsOffered();

        node.causeResolved(0, 109);
        dwellPasses();
    }

    @Test
    void operatorMayIgnoreXid109AndRevert() {
        node.xid(0, 109);

        node.overrideXids(new XidOverrides(false, false, Set.of(109), Set.of()));
        bothAreOffered();
        node.overrideXids(XidOverrides.NONE);
        onlyTheSecondIsOffered();
    }

    @Test
    void xid121WithdrawsNothingUnlessAnOperatorEnforcesIt() {
        node.xid(0, 121);
        bothAreOffered();

        node.overrideXids(new XidOverrides(false, false, Set.of(), Set.of(121)));
        onlyTheSecondIsOffered();
    }

    @Test
    void xid136NeedsAReset() {
        node.xid(0, 136);
        onlyTheSecondIsOffered();

        node.causeResolved(0, 136);
        dwellPasses();
    }

    @Test
    void xid154WithdrawsByTheRecoveryActionItAnnounces() {
        node.xid(0, 154).polls(GpuSampleBuilder.healthyGpu(0));
        bothAreOffered();

        node.xid(0, 154).polls(GpuSampleBuilder.healthyGpu(0).recoveryAction(RecoveryAction.NODE_REBOOT));
        onlyTheSecondIsOffered();

        node.causeResolved(0, 154).advance(10).polls(GpuSampleBuilder.healthyGpu(0));
        dwellPasses();
    }

    @Test
    void xid154OfTheKernelLogSufficesWithoutNvmlsRecoveryAction() {
        node.kernelLogs(0, new FaultCode.Xid(154))
                .kernelLogs(0, new FaultCode.RecoveryRequested(RecoveryAction.GPU_RESET));
        onlyTheSecondIsOffered();

        node.advance(10).polls(GpuSampleBuilder.healthyGpu(0));
        dwellPasses();
    }

    @ParameterizedTest
    @EnumSource(XidSubcode.RepairNeed.class)
    void subcodeDecidesWhereTheNumberAloneWithdrawsNothing(XidSubcode.RepairNeed need) {
        node.kernelLogs(0, 149, new XidSubcode("NETIR_LINK_EVT", need));

        if (need == XidSubcode.RepairNeed.REPAIR) {
            onlyTheSecondIsOffered();
        } else {
            bothAreOffered();
        }
        assertThat(node.published(NodeFact.FaultObserved.class)).hasSize(1);
    }

    @Test
    void subcodeThatFollowsNvmlsNumberWithdrawsAndIsTheSameObservation() {
        node.xid(0, 149);
        bothAreOffered();

        node.advance(1).kernelLogs(0, 149, LINK_DOWN);
        onlyTheSecondIsOffered();
        assertThat(node.published(NodeFact.FaultObserved.class)).hasSize(1);
        assertThat(node.published(NodeFact.FaultsOpen.class).getLast().faults())
                .singleElement()
                .satisfies(fault -> {
                    assertThat(fault.observationCount()).isEqualTo(1);
                    assertThat(fault.withdraws()).isTrue();
                    assertThat(fault.message()).isEqualTo("printed NETIR_LINK_EVT");
                });

        node.causeResolved(0, 149);
        dwellPasses();
    }

    @Test
    void subcodeThatChangesNothingIsListedWithOpenFaults() {
        node.xid(0, 149);
        int before = node.published(NodeFact.FaultsOpen.class).size();

        node.advance(1).kernelLogs(0, 149, BIT_ERRORS).kernelLogs(0, 149, BIT_ERRORS);

        bothAreOffered();
        assertThat(node.published(NodeFact.FaultsOpen.class)).hasSize(before + 1);
        assertThat(node.published(NodeFact.FaultsOpen.class).getLast().faults())
                .singleElement()
                .matches(fault -> fault.message().equals("printed NETIR_BER_EVENT"));
    }

    @Test
    void numberThatFollowsTheSubcodeAddsNothing() {
        node.kernelLogs(0, 149, LINK_DOWN).advance(1).xid(0, 149);

        onlyTheSecondIsOffered();
        assertThat(node.faults()).singleElement().matches(fault -> fault.observationCount() == 1);
        assertThat(node.faults())
                .singleElement()
                .matches(fault -> fault.message().equals("printed NETIR_LINK_EVT"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 60})
    void laterSubcodeDoesNotRevertAWithdrawal(int seconds) {
        node.kernelLogs(0, 149, LINK_DOWN).advance(seconds).kernelLogs(0, 149, BIT_ERRORS);
        onlyTheSecondIsOffered();

        node.advance(seconds).xid(0, 149);
        onlyTheSecondIsOffered();
    }

    @Test
    void subcodeSurvivesARestartAndAnOperatorMayOverrideIt() {
        node.kernelLogs(0, 149, LINK_DOWN).restarts("boot-1", scanOf(2));
        onlyTheSecondIsOffered();

        node.overrideXids(new XidOverrides(false, false, Set.of(149), Set.of()));
        bothAreOffered();
        node.overrideXids(XidOverrides.NONE);
        onlyTheSecondIsOffered();
    }

    @ParameterizedTest
    @ValueSource(ints = {13, 31, 43, 45, 63, 68, 74, 94, 121, 137, 145, 154, 162, 999})
    void xidThatNeedsNoRepairIsReportedOnly(int code) {
        node.xid(0, code);

        bothAreOffered();
        assertThat(node.published(NodeFact.FaultObserved.class)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {46, 48, 54, 62, 64, 79, 95, 109, 110, 119, 120, 136, 140, 142, 143, 151, 155, 156, 158})
    void xidThatNeedsResetRebootOrRepairWithdraws(int code) {
        node.xid(0, code);

        onlyTheSecondIsOffered();
    }

    @ParameterizedTest
    @ValueSource(ints = {46, 48, 54, 79, 95, 109, 119, 136, 142, 151})
    void disabledHealthChecksIgnoreAllXidsButEnforcedOnes(int code) {
        node.overrideXids(new XidOverrides(true, false, Set.of(), Set.of(119)));
        node.xid(0, code);

        if (code == 119) {
            onlyTheSecondIsOffered();
        } else {
            bothAreOffered();
        }
    }

    @Test
    void disabledXidsDoNotHideALostGpu() {
        node.overrideXids(new XidOverrides(true, false, Set.of(), Set.of()));

        node.polls(GpuSampleBuilder.healthyGpu(0).unresponsive(), GpuSampleBuilder.healthyGpu(1));

        onlyTheSecondIsOffered();
    }

    @Test
    void olderDriverReturnsAGpuOnlyAfterItsReset() {
        // Given a driver before 565, which has no recovery action
        node.polls(GpuSampleBuilder.healthyGpu(0).withoutRecoveryAction().energyMillijoules(5_000))
                .xid(0, 48);
        node.advance(10)
                .polls(GpuSampleBuilder.healthyGpu(0).withoutRecoveryAction().energyMillijoules(6_000));
        node.advance(100_000);
        onlyTheSecondIsOffered();

        // When the energy counter restarts
        node.polls(GpuSampleBuilder.healthyGpu(0).withoutRecoveryAction().energyMillijoules(40));

        dwellPasses();
    }

    @Test
    void nvSwitchErrorIsAFaultOfTheNodeAndWithdrawsNoGpu() {
        node.kernelLogs(0, new FaultCode.Sxid(20034));

        bothAreOffered();
        assertThat(node.faults())
                .singleElement()
                .matches(fault -> fault.key().gpuUuid().isEmpty());
    }

    @Test
    void gpuWhoseMemoryAloneIsUnreadableIsNotOffered() {
        node.polls(GpuSampleBuilder.healthyGpu(0).memory(new Unavailable<>("UNKNOWN")), GpuSampleBuilder.healthyGpu(1));
        onlyTheSecondIsOffered();

        node.advance(10).polls(GpuSampleBuilder.healthyGpu(0), GpuSampleBuilder.healthyGpu(1));
        dwellPasses();
    }
}
