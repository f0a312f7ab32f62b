package io.gpufleet.nodedaemon.model.fault;

import static io.gpufleet.nodedaemon.model.device.TestGpus.POLICY;
import static io.gpufleet.nodedaemon.model.device.TestGpus.sampleOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static io.gpufleet.nodedaemon.model.device.TestGpus.xid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OpenFaultsTest {
    private static final OpenFaults EMPTY = OpenFaults.restored(POLICY, List.of(), second(0));
    private static final FaultKey XID_79 = new FaultKey(uuid(0), new FaultCode.Xid(79));
    private static final Reading<RecoveryAction> NONE = new Reading.Known<>(RecoveryAction.NONE);

    private static OpenFaults withXid79(double at) {
        return EMPTY.observe(xid(0, 79, FaultOrigin.NVML_EVENT), TestGpus.SUBJECT, second(at))
                .next();
    }

    @Test
    void fatalXidWithdrawsItsGpuOnly() {
        OpenFaults faults = withXid79(0);

        assertThat(faults.withdrawing(uuid(0))).isPresent();
        assertThat(faults.withdrawing(uuid(1))).isEmpty();
    }

    @Test
    void applicationXidIsReportedButWithdrawsNothing() {
        OpenFaults faults = EMPTY.observe(xid(0, 31, FaultOrigin.NVML_EVENT), TestGpus.SUBJECT, second(0))
                .next();

        assertThat(faults.open()).hasSize(1);
        assertThat(faults.withdrawing(uuid(0))).isEmpty();
    }

    @Test
    void twoSourcesWithinFiveSecondsAreOneObservation() {
        var observed = withXid79(0).observe(xid(0, 79, FaultOrigin.KERNEL_LOG), TestGpus.SUBJECT, second(4.9));

        assertThat(observed).isInstanceOf(OpenFaults.ObservationResult.Duplicate.class);
        assertThat(observed.fault().observationCount()).isEqualTo(1);
        assertThat(observed.fault().origins()).isEqualTo(Set.of(FaultOrigin.NVML_EVENT, FaultOrigin.KERNEL_LOG));
    }

    @Test
    void twoSourcesFurtherApartAreTwoObservations() {
        var observed = withXid79(0).observe(xid(0, 79, FaultOrigin.KERNEL_LOG), TestGpus.SUBJECT, second(5.1));

        assertThat(observed).isInstanceOf(OpenFaults.ObservationResult.Repeated.class);
        assertThat(observed.fault().observationCount()).isEqualTo(2);
    }

    @Test
    void sameSourceTwiceIsTwoObservationsHoweverSoon() {
        var observed = withXid79(0).observe(xid(0, 79, FaultOrigin.NVML_EVENT), TestGpus.SUBJECT, second(0.001));

        assertThat(observed).isInstanceOf(OpenFaults.ObservationResult.Repeated.class);
        assertThat(observed.fault().observationCount()).isEqualTo(2);
    }

    @Test
    void faultStaysOpenWhileItsCauseIsPresent() {
        assertThat(withXid79(0).clearDue(second(1_000_000)).cleared()).isEmpty();
    }

    @Test
    void faultIsClearedOnceItsCauseIsGoneForTheDwell() {
        OpenFaults faults = withXid79(0).causeResolved(XID_79, "reset", second(10));

        assertThat(faults.clearDue(second(309)).cleared()).isEmpty();
        var result = faults.clearDue(second(310));
        assertThat(result.next().open()).isEmpty();
        assertThat(result.cleared()).extracting(OpenFaults.Cleared::proof).containsExactly("reset, quiet for PT5M");
    }

    @Test
    void anotherObservationStartsTheDwellOver() {
        // Given a fault whose cause is resolved
        OpenFaults gone = withXid79(0).causeResolved(XID_79, "reset", second(10));

        // When it is observed and resolved again
        OpenFaults again = gone.observe(xid(0, 79, FaultOrigin.NVML_EVENT), TestGpus.SUBJECT, second(100))
                .next();
        OpenFaults goneAgain = again.causeResolved(XID_79, "reset", second(200));

        // Then the dwell counts from the second resolution
        assertThat(again.clearDue(second(1000)).cleared()).isEmpty();
        assertThat(goneAgain.clearDue(second(499)).cleared()).isEmpty();
        assertThat(goneAgain.clearDue(second(500)).cleared()).hasSize(1);
    }

    @Test
    void timerIsDueExactlyWhenTheDwellIsOver() {
        assertThat(withXid79(0).nextDueNanos()).isEmpty();
        assertThat(withXid79(0).causeResolved(XID_79, "reset", second(10)).nextDueNanos())
                .hasValue(second(310).nanos());
    }

    @Test
    void pollDoesNotResolveFaultMonitoredByItsSource() {
        OpenFaults faults = EMPTY.observe(xid(0, 79, FaultOrigin.SIMULATION), TestGpus.SUBJECT, second(0))
                .next()
                .polled(sampleOf(0, NONE), second(10));

        assertThat(faults.clearDue(second(1000)).cleared()).isEmpty();
    }

    @Test
    void nvmlEventIsResolvedByPollsOnceTheDriverHadTimeToSetItsRecoveryAction() {
        assertThat(withXid79(0).polled(sampleOf(0, NONE), second(4.9)).nextDueNanos())
                .isEmpty();
        assertThat(withXid79(0).polled(sampleOf(0, NONE), second(5)).nextDueNanos())
                .hasValue(second(305).nanos());
    }

    @Test
    void sameXidAgainStartsTheDelayOver() {
        OpenFaults again = withXid79(0)
                .observe(xid(0, 79, FaultOrigin.NVML_EVENT), TestGpus.SUBJECT, second(4))
                .next();

        assertThat(again.polled(sampleOf(0, NONE), second(8)).nextDueNanos()).isEmpty();
    }

    @Test
    void requestedResetKeepsTheXidOfAnNvmlEvent() {
        var reset = new Reading.Known<>(RecoveryAction.GPU_RESET);

        assertThat(withXid79(0).polled(sampleOf(0, reset), second(10)).nextDueNanos())
                .isEmpty();
    }

    @Test
    void pendingRemapKeepsAnXidThatWithdrawsNothing() {
        OpenFaults faults = EMPTY.observe(xid(0, 31, FaultOrigin.NVML_EVENT), TestGpus.SUBJECT, second(0))
                .next();

        assertThat(faults.polled(
                                GpuSampleBuilder.healthyGpu(0)
                                        .rowRemap(true, false, false)
                                        .build(),
                                second(10))
                        .nextDueNanos())
                .isEmpty();
        assertThat(faults.polled(GpuSampleBuilder.healthyGpu(0).build(), second(10))
                        .nextDueNanos())
                .isPresent();
    }

    @Test
    void driverWithoutRecoveryActionResolvesOnlyWhatWithdrawsNothing() {
        var unsupported = new Reading.Unavailable<RecoveryAction>("NOT_SUPPORTED");
        OpenFaults harmless = EMPTY.observe(xid(0, 31, FaultOrigin.NVML_EVENT), TestGpus.SUBJECT, second(0))
                .next();

        assertThat(harmless.polled(sampleOf(0, unsupported), second(10)).nextDueNanos())
                .isPresent();
        assertThat(withXid79(0).polled(sampleOf(0, unsupported), second(10)).nextDueNanos())
                .isEmpty();
    }

    @Test
    void eccEventIsResolvedByTheRecoveryAction() {
        var ecc = new FaultCode.WithoutCode(FaultKind.ECC_UNCORRECTABLE);
        OpenFaults faults = EMPTY.observe(
                        new DeviceEvent.FaultDetected(uuid(0), "", ecc, FaultOrigin.NVML_EVENT, "ECC"),
                        TestGpus.SUBJECT,
                        second(0))
                .next();

        assertThat(faults.polled(sampleOf(0, NONE), second(4)).nextDueNanos()).isEmpty();
        assertThat(faults.polled(sampleOf(0, NONE), second(10)).nextDueNanos()).isPresent();
    }

    @Test
    void changedRecoveryActionResolvesTheOneBefore() {
        var reset = new FaultCode.RecoveryRequested(RecoveryAction.GPU_RESET);
        OpenFaults faults = EMPTY.observe(
                        new DeviceEvent.FaultDetected(uuid(0), "", reset, FaultOrigin.POLL, "reset"),
                        TestGpus.SUBJECT,
                        second(0))
                .next();

        assertThat(faults.polled(sampleOf(0, new Reading.Known<>(RecoveryAction.NODE_REBOOT)), second(10))
                        .clearDue(second(310))
                        .cleared())
                .extracting(OpenFaults.Cleared::proof)
                .containsExactly("recovery action NODE_REBOOT, quiet for PT5M");
    }

    @Test
    void restoredFaultIsResolvedByPolls() {
        OpenFaults faults = OpenFaults.restored(POLICY, withXid79(0).open(), second(0));

        OpenFaults polled = faults.polled(sampleOf(0, NONE), second(10));

        assertThat(faults.clearDue(second(1000)).cleared()).isEmpty();
        assertThat(polled.clearDue(second(310)).cleared()).hasSize(1);
    }

    @Test
    void restoredFatalFaultStaysOpenWithoutARecoveryAction() {
        OpenFaults faults = OpenFaults.restored(POLICY, withXid79(0).open(), second(0));

        OpenFaults polled = faults.polled(sampleOf(0, new Reading.Unavailable<>("NOT_SUPPORTED")), second(10));

        assertThat(polled.clearDue(second(1000)).cleared()).isEmpty();
    }

    @Test
    void requestedResetInterruptsTheDwell() {
        OpenFaults gone = withXid79(0).causeResolved(XID_79, "reset", second(10));

        OpenFaults asked = gone.polled(sampleOf(0, new Reading.Known<>(RecoveryAction.GPU_RESET)), second(20));

        assertThat(asked.clearDue(second(1000)).cleared()).isEmpty();
    }

    @Test
    void burstThatTwoSourcesReportCountsOnce() {
        OpenFaults faults = EMPTY;
        for (int i = 0; i < 3; i++) {
            faults = faults.observe(xid(0, 79, FaultOrigin.NVML_EVENT), TestGpus.SUBJECT, second(i))
                    .next();
        }
        for (int i = 0; i < 3; i++) {
            faults = faults.observe(xid(0, 79, FaultOrigin.KERNEL_LOG), TestGpus.SUBJECT, second(3 + i * 0.1))
                    .next();
        }

        assertThat(faults.find(XID_79).orElseThrow().observationCount()).isEqualTo(3);
        assertThat(faults.observe(xid(0, 79, FaultOrigin.KERNEL_LOG), TestGpus.SUBJECT, second(4))
                        .fault()
                        .observationCount())
                .isEqualTo(4);
    }

    @Test
    void faultFromKernelLogAloneIsResolvedByPolls() {
        OpenFaults faults = EMPTY.observe(xid(0, 79, FaultOrigin.KERNEL_LOG), TestGpus.SUBJECT, second(0))
                .next();

        assertThat(faults.polled(
                                GpuSampleBuilder.healthyGpu(0)
                                        .recoveryAction(RecoveryAction.GPU_RESET)
                                        .build(),
                                second(10))
                        .nextDueNanos())
                .isEmpty();
        assertThat(faults.polled(
                                GpuSampleBuilder.healthyGpu(0)
                                        .rowRemap(true, false, false)
                                        .build(),
                                second(10))
                        .nextDueNanos())
                .isEmpty();
        assertThat(faults.polled(GpuSampleBuilder.healthyGpu(0).build(), second(10))
                        .clearDue(second(310))
                        .cleared())
                .extracting(OpenFaults.Cleared::proof)
                .containsExactly("recovery action NONE, handle responds, no remap pending, quiet for PT5M");
    }

    @Test
    void fallenEnergyCounterResolvesFatalFaultOnOlderDriver() {
        // Given a fault of a GPU that had used 1000 mJ, on a driver without recovery actions
        var subject = new OpenFault.Subject("", "H100", new Reading.Known<>(1000L));
        OpenFaults faults = EMPTY.observe(xid(0, 79, FaultOrigin.NVML_EVENT), subject, second(0))
                .next();

        // When it only responds, nothing is proven
        OpenFaults answered = faults.polled(
                GpuSampleBuilder.healthyGpu(0)
                        .withoutRecoveryAction()
                        .energyMillijoules(1200)
                        .build(),
                second(10));
        assertThat(answered.nextDueNanos()).isEmpty();

        // Then a lower counter proves the reset, in a later process too
        OpenFaults later = OpenFaults.restored(POLICY, answered.open(), second(20));
        assertThat(later.polled(
                                GpuSampleBuilder.healthyGpu(0)
                                        .withoutRecoveryAction()
                                        .energyMillijoules(7)
                                        .build(),
                                second(30))
                        .clearDue(second(330))
                        .cleared())
                .hasSize(1);
    }

    @Test
    void driverReloadResolvesEarlierFaults() {
        OpenFaults faults = withXid79(10);

        assertThat(faults.driverReloaded(Set.of(uuid(1)), second(20).nanos(), second(30))
                        .nextDueNanos())
                .isEmpty();
        assertThat(faults.driverReloaded(Set.of(uuid(0)), second(5).nanos(), second(30))
                        .nextDueNanos())
                .isEmpty();
        assertThat(faults.driverReloaded(Set.of(uuid(0)), second(20).nanos(), second(30))
                        .clearDue(second(330))
                        .cleared())
                .hasSize(1);
    }

    @Test
    void resolvedFaultRequestedAgainIsDecidedByPolls() {
        OpenFaults gone = withXid79(0).causeResolved(XID_79, "reset", second(10));

        OpenFaults asked = gone.polled(sampleOf(0, new Reading.Known<>(RecoveryAction.GPU_RESET)), second(20));
        OpenFaults quiet = asked.polled(sampleOf(0, NONE), second(100));

        assertThat(quiet.clearDue(second(399)).cleared()).isEmpty();
        assertThat(quiet.clearDue(second(400)).cleared()).hasSize(1);
    }

    @Test
    void resolvedFaultStaysResolvedAfterRestart() {
        OpenFaults gone = withXid79(0).causeResolved(XID_79, "reset", second(10));

        OpenFaults later = OpenFaults.restored(POLICY, gone.open(), second(0));

        assertThat(later.clearDue(second(299)).cleared()).isEmpty();
        assertThat(later.clearDue(second(300)).cleared()).hasSize(1);
    }

    @Test
    void idleImexDomainWithdrawsNothing() {
        var imex = new FaultCode.RecoveryRequested(RecoveryAction.RECOVER_IMEX_DOMAIN);
        OpenFaults faults = EMPTY.observe(
                        new DeviceEvent.FaultDetected(uuid(0), "", imex, FaultOrigin.POLL, "asked"),
                        TestGpus.SUBJECT,
                        second(0))
                .next();

        assertThat(faults.withdrawing(uuid(0))).isEmpty();
        assertThat(faults.polled(
                                GpuSampleBuilder.healthyGpu(0)
                                        .recoveryAction(RecoveryAction.RECOVER_IMEX_DOMAIN)
                                        .build(),
                                second(1))
                        .nextDueNanos())
                .isEmpty();
        assertThat(faults.polled(GpuSampleBuilder.healthyGpu(0).build(), second(1))
                        .nextDueNanos())
                .isPresent();
    }

    @Test
    void rebootClearsEveryFault() {
        var result = withXid79(0).afterReboot("boot-2");

        assertThat(result.next().open()).isEmpty();
        assertThat(result.cleared()).extracting(OpenFaults.Cleared::proof).containsExactly("new boot id boot-2");
    }
}
