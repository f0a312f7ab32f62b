package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.seen;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.SomeVitals;
import io.gpufleet.nodedaemon.model.Subcode;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The codes about which the tools disagree, one by one: what each does to a node of two GPUs. */
class XidByXidTest {
    private static final Subcode LINK_DOWN = new Subcode("NETIR_LINK_EVT", Subcode.Need.REPAIR);
    private static final Subcode BIT_ERRORS = new Subcode("NETIR_BER_EVENT", Subcode.Need.NOTHING);

    private final NodeInHand node = new NodeInHand(seen(2));

    private void bothAreOffered() {
        assertThat(node.healthy()).containsExactly(uuid(0), uuid(1));
    }

    private void onlyTheSecondIsOffered() {
        assertThat(node.healthy()).containsExactly(uuid(1));
    }

    private void dwellPasses() {
        node.after(NodeInHand.DWELL.toSeconds() - 1);
        onlyTheSecondIsOffered();
        node.after(1);
        bothAreOffered();
    }

    @Test
    void xid63RecordsARemapAndTheGpuWorksOnUntilTheDriverAsksForTheReset() {
        node.xid(0, 63).polls(SomeVitals.well(0).remap(true, false, false));
        bothAreOffered();
        assertThat(node.open()).containsExactly(new FaultCode.Xid(63), new FaultCode.Plain(FaultCode.Kind.ROW_REMAP));

        // When the rows that wait make the driver ask
        node.after(10).polls(SomeVitals.well(0).remap(true, false, false).asks(RecoveryAction.GPU_RESET));
        onlyTheSecondIsOffered();

        // Then the reset ends it
        node.over(0, 63).after(10).polls(SomeVitals.well(0));
        dwellPasses();
        assertThat(node.open()).isEmpty();
    }

    @Test
    void xid94IsContainedToItsApplicationAndXid95IsNot() {
        node.xid(0, 94);
        bothAreOffered();
        assertThat(node.told(Fact.FaultObserved.class)).hasSize(1);

        node.xid(0, 95);
        onlyTheSecondIsOffered();
    }

    @Test
    void xid109NeedsAResetWhateverOtherPluginsSay() {
        node.xid(0, 109);
        onlyTheSecondIsOffered();

        node.over(0, 109);
        dwellPasses();
    }

    @Test
    void operatorMayLetXid109PassAndTakeTheWordBack() {
        node.xid(0, 109);

        node.chooses(new XidOverrides(false, false, Set.of(109), Set.of()));
        bothAreOffered();
        node.chooses(XidOverrides.NONE);
        onlyTheSecondIsOffered();
    }

    @Test
    void xid121IsAFactOfTheChipToChipLinkUnlessAnOperatorWantsMore() {
        node.xid(0, 121);
        bothAreOffered();

        node.chooses(new XidOverrides(false, false, Set.of(), Set.of(121)));
        onlyTheSecondIsOffered();
    }

    @Test
    void xid136MeansLinksThatDoNotTrainAndNeedsAReset() {
        node.xid(0, 136);
        onlyTheSecondIsOffered();

        node.over(0, 136);
        dwellPasses();
    }

    @Test
    void xid154WithdrawsNothingByItselfAndWhatItAnnouncesDoes() {
        node.xid(0, 154).polls(SomeVitals.well(0));
        bothAreOffered();

        node.xid(0, 154).polls(SomeVitals.well(0).asks(RecoveryAction.NODE_REBOOT));
        onlyTheSecondIsOffered();

        node.over(0, 154).after(10).polls(SomeVitals.well(0));
        dwellPasses();
    }

    @Test
    void xid154OfTheKernelLogIsEnoughWhereNvmlHasNoSuchField() {
        node.kernelSays(0, new FaultCode.Xid(154)).kernelSays(0, new FaultCode.RecoveryAsked(RecoveryAction.GPU_RESET));
        onlyTheSecondIsOffered();

        node.after(10).polls(SomeVitals.well(0));
        dwellPasses();
    }

    @ParameterizedTest
    @EnumSource(Subcode.Need.class)
    void subcodeDecidesWhereTheNumberAloneWithdrawsNothing(Subcode.Need need) {
        node.kernelSays(0, 149, new Subcode("NETIR_LINK_EVT", need));

        if (need == Subcode.Need.REPAIR) {
            onlyTheSecondIsOffered();
        } else {
            bothAreOffered();
        }
        assertThat(node.told(Fact.FaultObserved.class)).hasSize(1);
    }

    @Test
    void subcodeThatFollowsNvmlsNumberWithdrawsAndIsTheSameObservation() {
        node.xid(0, 149);
        bothAreOffered();

        node.after(1).kernelSays(0, 149, LINK_DOWN);
        onlyTheSecondIsOffered();
        assertThat(node.told(Fact.FaultObserved.class)).hasSize(1);
        assertThat(node.told(Fact.FaultsOpen.class).getLast().faults())
                .singleElement()
                .satisfies(fault -> {
                    assertThat(fault.observations()).isEqualTo(1);
                    assertThat(fault.withdraws()).isTrue();
                    assertThat(fault.message()).isEqualTo("printed NETIR_LINK_EVT");
                });

        node.over(0, 149);
        dwellPasses();
    }

    @Test
    void subcodeThatChangesNothingIsToldWithWhatIsOpen() {
        node.xid(0, 149);
        int before = node.told(Fact.FaultsOpen.class).size();

        node.after(1).kernelSays(0, 149, BIT_ERRORS).kernelSays(0, 149, BIT_ERRORS);

        bothAreOffered();
        assertThat(node.told(Fact.FaultsOpen.class)).hasSize(before + 1);
        assertThat(node.told(Fact.FaultsOpen.class).getLast().faults())
                .singleElement()
                .matches(fault -> fault.message().equals("printed NETIR_BER_EVENT"));
    }

    @Test
    void numberThatFollowsTheSubcodeAddsNothing() {
        node.kernelSays(0, 149, LINK_DOWN).after(1).xid(0, 149);

        onlyTheSecondIsOffered();
        assertThat(node.faults()).singleElement().matches(fault -> fault.observations() == 1);
        assertThat(node.faults())
                .singleElement()
                .matches(fault -> fault.message().equals("printed NETIR_LINK_EVT"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 60})
    void noLaterSubcodeTakesAWithdrawalBack(int seconds) {
        node.kernelSays(0, 149, LINK_DOWN).after(seconds).kernelSays(0, 149, BIT_ERRORS);
        onlyTheSecondIsOffered();

        node.after(seconds).xid(0, 149);
        onlyTheSecondIsOffered();
    }

    @Test
    void subcodeOutlivesARestartAndAnOperatorMayOverruleIt() {
        node.kernelSays(0, 149, LINK_DOWN).restarts("boot-1", seen(2));
        onlyTheSecondIsOffered();

        node.chooses(new XidOverrides(false, false, Set.of(149), Set.of()));
        bothAreOffered();
        node.chooses(XidOverrides.NONE);
        onlyTheSecondIsOffered();
    }

    @ParameterizedTest
    @ValueSource(ints = {13, 31, 43, 45, 63, 68, 74, 94, 121, 137, 145, 154, 162, 999})
    void whatNeedsNoRepairIsAFactAndNothingElse(int code) {
        node.xid(0, code);

        bothAreOffered();
        assertThat(node.told(Fact.FaultObserved.class)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {46, 48, 54, 62, 64, 79, 95, 109, 110, 119, 120, 136, 140, 142, 143, 151, 155, 156, 158})
    void whatNeedsAResetARebootOrHandsWithdraws(int code) {
        node.xid(0, code);

        onlyTheSecondIsOffered();
    }

    @ParameterizedTest
    @ValueSource(ints = {46, 48, 54, 79, 95, 109, 119, 136, 142, 151})
    void allHealthChecksOffLetsEveryXidPassButThoseThatAreEnforced(int code) {
        node.chooses(new XidOverrides(true, false, Set.of(), Set.of(119)));
        node.xid(0, code);

        if (code == 119) {
            onlyTheSecondIsOffered();
        } else {
            bothAreOffered();
        }
    }

    @Test
    void switchedOffXidsLeaveALostGpuLost() {
        node.chooses(new XidOverrides(true, false, Set.of(), Set.of()));

        node.polls(SomeVitals.well(0).silent(), SomeVitals.well(1));

        onlyTheSecondIsOffered();
    }

    @Test
    void olderDriverLetsAGpuBackOnlyAfterANewStartOfIt() {
        // Given a driver before 565, which never says what it asks for
        node.polls(SomeVitals.well(0).withoutRecoveryAction().energy(5_000)).xid(0, 48);
        node.after(10).polls(SomeVitals.well(0).withoutRecoveryAction().energy(6_000));
        node.after(100_000);
        onlyTheSecondIsOffered();

        // When the GPU counts its energy from the beginning
        node.polls(SomeVitals.well(0).withoutRecoveryAction().energy(40));

        dwellPasses();
    }

    @Test
    void switchErrorIsOfTheNodeAndWithdrawsNoGpu() {
        node.kernelSays(0, new FaultCode.Sxid(20034));

        bothAreOffered();
        assertThat(node.faults())
                .singleElement()
                .matches(fault -> fault.key().gpuUuid().isEmpty());
    }

    @Test
    void gpuWhoseMemoryAloneIsUnreadableIsNotOffered() {
        node.polls(SomeVitals.well(0).memory(new Unavailable<>("UNKNOWN")), SomeVitals.well(1));
        onlyTheSecondIsOffered();

        node.after(10).polls(SomeVitals.well(0), SomeVitals.well(1));
        dwellPasses();
    }
}
