package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Some.POLICY;
import static io.gpufleet.nodedaemon.model.Some.second;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static io.gpufleet.nodedaemon.model.Some.vitals;
import static io.gpufleet.nodedaemon.model.Some.xid;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HealthBookTest {
    private static final HealthBook EMPTY = HealthBook.inheriting(POLICY, List.of(), second(0));
    private static final FaultKey XID_79 = new FaultKey(uuid(0), new FaultCode.Xid(79));
    private static final Reading<RecoveryAction> NONE = new Reading.Known<>(RecoveryAction.NONE);

    private static HealthBook broken(double at) {
        return EMPTY.observe(xid(0, 79, FaultOrigin.NVML_EVENT), Some.SUBJECT, second(at))
                .next();
    }

    @Test
    void fatalXidWithdrawsItsGpuOnly() {
        HealthBook book = broken(0);

        assertThat(book.withdrawing(uuid(0))).isPresent();
        assertThat(book.withdrawing(uuid(1))).isEmpty();
    }

    @Test
    void applicationsXidIsAFactButWithdrawsNothing() {
        HealthBook book = EMPTY.observe(xid(0, 31, FaultOrigin.NVML_EVENT), Some.SUBJECT, second(0))
                .next();

        assertThat(book.open()).hasSize(1);
        assertThat(book.withdrawing(uuid(0))).isEmpty();
    }

    @Test
    void twoSourcesWithinFiveSecondsAreOneObservation() {
        var observed = broken(0).observe(xid(0, 79, FaultOrigin.KERNEL_LOG), Some.SUBJECT, second(4.9));

        assertThat(observed).isInstanceOf(HealthBook.Observed.Same.class);
        assertThat(observed.fault().observations()).isEqualTo(1);
        assertThat(observed.fault().origins()).isEqualTo(Set.of(FaultOrigin.NVML_EVENT, FaultOrigin.KERNEL_LOG));
    }

    @Test
    void twoSourcesFurtherApartAreTwoObservations() {
        var observed = broken(0).observe(xid(0, 79, FaultOrigin.KERNEL_LOG), Some.SUBJECT, second(5.1));

        assertThat(observed).isInstanceOf(HealthBook.Observed.Again.class);
        assertThat(observed.fault().observations()).isEqualTo(2);
    }

    @Test
    void sameSourceTwiceIsTwoObservationsHoweverSoon() {
        var observed = broken(0).observe(xid(0, 79, FaultOrigin.NVML_EVENT), Some.SUBJECT, second(0.001));

        assertThat(observed).isInstanceOf(HealthBook.Observed.Again.class);
        assertThat(observed.fault().observations()).isEqualTo(2);
    }

    @Test
    void faultStandsAsLongAsItsCauseDoes() {
        assertThat(broken(0).settle(second(1_000_000)).cleared()).isEmpty();
    }

    @Test
    void faultIsClearedOnceItsCauseIsGoneForTheDwell() {
        HealthBook book = broken(0).causeGone(XID_79, "reset", second(10));

        assertThat(book.settle(second(309)).cleared()).isEmpty();
        var settled = book.settle(second(310));
        assertThat(settled.next().open()).isEmpty();
        assertThat(settled.cleared()).extracting(HealthBook.Cleared::proof).containsExactly("reset, quiet for PT5M");
    }

    @Test
    void anotherObservationStartsTheDwellOver() {
        // Given a fault whose cause is gone
        HealthBook gone = broken(0).causeGone(XID_79, "reset", second(10));

        // When it is seen again and goes again
        HealthBook again = gone.observe(xid(0, 79, FaultOrigin.NVML_EVENT), Some.SUBJECT, second(100))
                .next();
        HealthBook goneAgain = again.causeGone(XID_79, "reset", second(200));

        // Then the dwell counts from the second end
        assertThat(again.settle(second(1000)).cleared()).isEmpty();
        assertThat(goneAgain.settle(second(499)).cleared()).isEmpty();
        assertThat(goneAgain.settle(second(500)).cleared()).hasSize(1);
    }

    @Test
    void timerIsDueExactlyWhenTheDwellIsOver() {
        assertThat(broken(0).nextDueNanos()).isEmpty();
        assertThat(broken(0).causeGone(XID_79, "reset", second(10)).nextDueNanos())
                .hasValue(second(310).nanos());
    }

    @Test
    void pollDoesNotProveAFaultGoneThatAnotherSourceWatches() {
        HealthBook book = broken(0).polled(vitals(0, NONE), second(10));

        assertThat(book.settle(second(1000)).cleared()).isEmpty();
    }

    @Test
    void inheritedFaultIsProvenGoneByPolls() {
        HealthBook book = HealthBook.inheriting(POLICY, broken(0).open(), second(0));

        HealthBook polled = book.polled(vitals(0, NONE), second(10));

        assertThat(book.settle(second(1000)).cleared()).isEmpty();
        assertThat(polled.settle(second(310)).cleared()).hasSize(1);
    }

    @Test
    void inheritedFatalFaultStandsWhereTheDriverCanNotSayWhatItAsksFor() {
        HealthBook book = HealthBook.inheriting(POLICY, broken(0).open(), second(0));

        HealthBook polled = book.polled(vitals(0, new Reading.Unavailable<>("NOT_SUPPORTED")), second(10));

        assertThat(polled.settle(second(1000)).cleared()).isEmpty();
    }

    @Test
    void driverThatAsksForAResetBreaksOffTheDwell() {
        HealthBook gone = broken(0).causeGone(XID_79, "reset", second(10));

        HealthBook asked = gone.polled(vitals(0, new Reading.Known<>(RecoveryAction.GPU_RESET)), second(20));

        assertThat(asked.settle(second(1000)).cleared()).isEmpty();
    }

    @Test
    void burstThatTwoSourcesReportCountsOnce() {
        HealthBook book = EMPTY;
        for (int i = 0; i < 3; i++) {
            book = book.observe(xid(0, 79, FaultOrigin.NVML_EVENT), Some.SUBJECT, second(i))
                    .next();
        }
        for (int i = 0; i < 3; i++) {
            book = book.observe(xid(0, 79, FaultOrigin.KERNEL_LOG), Some.SUBJECT, second(3 + i * 0.1))
                    .next();
        }

        assertThat(book.find(XID_79).orElseThrow().observations()).isEqualTo(3);
        assertThat(book.observe(xid(0, 79, FaultOrigin.KERNEL_LOG), Some.SUBJECT, second(4))
                        .fault()
                        .observations())
                .isEqualTo(4);
    }

    @Test
    void faultOfTheKernelLogAloneIsProvenGoneByPolls() {
        HealthBook book = EMPTY.observe(xid(0, 79, FaultOrigin.KERNEL_LOG), Some.SUBJECT, second(0))
                .next();

        assertThat(book.polled(SomeVitals.well(0).asks(RecoveryAction.GPU_RESET).now(), second(1))
                        .nextDueNanos())
                .isEmpty();
        assertThat(book.polled(SomeVitals.well(0).remap(true, false, false).now(), second(1))
                        .nextDueNanos())
                .isEmpty();
        assertThat(book.polled(SomeVitals.well(0).now(), second(1))
                        .settle(second(301))
                        .cleared())
                .extracting(HealthBook.Cleared::proof)
                .containsExactly("recovery action NONE, the handle answers, no remap pending, quiet for PT5M");
    }

    @Test
    void olderDriverProvesAFatalFaultGoneByAnEnergyCounterThatFell() {
        // Given a fault of a GPU that had used 1000 mJ, on a driver that can not say what it asks for
        var subject = new OpenFault.Subject("", "H100", new Reading.Known<>(1000L));
        HealthBook book = EMPTY.observe(xid(0, 79, FaultOrigin.NVML_EVENT), subject, second(0))
                .next();

        // When it only answers, nothing is proven
        HealthBook answered = book.polled(
                SomeVitals.well(0).withoutRecoveryAction().energy(1200).now(), second(10));
        assertThat(answered.nextDueNanos()).isEmpty();

        // Then a counter that begins anew shows that the GPU was, in a later process too
        HealthBook later = HealthBook.inheriting(POLICY, answered.open(), second(20));
        assertThat(later.polled(
                                SomeVitals.well(0)
                                        .withoutRecoveryAction()
                                        .energy(7)
                                        .now(),
                                second(30))
                        .settle(second(330))
                        .cleared())
                .hasSize(1);
    }

    @Test
    void driverThatWasLoadedAnewEndsWhatWasSeenBefore() {
        HealthBook book = broken(10);

        assertThat(book.driverLoadedAnew(Set.of(uuid(1)), second(20).nanos(), second(30))
                        .nextDueNanos())
                .isEmpty();
        assertThat(book.driverLoadedAnew(Set.of(uuid(0)), second(5).nanos(), second(30))
                        .nextDueNanos())
                .isEmpty();
        assertThat(book.driverLoadedAnew(Set.of(uuid(0)), second(20).nanos(), second(30))
                        .settle(second(330))
                        .cleared())
                .hasSize(1);
    }

    @Test
    void askedForAgainAfterItsEndIsDecidedByPolls() {
        HealthBook gone = broken(0).causeGone(XID_79, "reset", second(10));

        HealthBook asked = gone.polled(vitals(0, new Reading.Known<>(RecoveryAction.GPU_RESET)), second(20));
        HealthBook quiet = asked.polled(vitals(0, NONE), second(100));

        assertThat(quiet.settle(second(399)).cleared()).isEmpty();
        assertThat(quiet.settle(second(400)).cleared()).hasSize(1);
    }

    @Test
    void endThatWasProvenBeforeARestartStaysProven() {
        HealthBook gone = broken(0).causeGone(XID_79, "reset", second(10));

        HealthBook later = HealthBook.inheriting(POLICY, gone.open(), second(0));

        assertThat(later.settle(second(299)).cleared()).isEmpty();
        assertThat(later.settle(second(300)).cleared()).hasSize(1);
    }

    @Test
    void idleImexDomainWithdrawsNothing() {
        var imex = new FaultCode.RecoveryAsked(RecoveryAction.RECOVER_IMEX_DOMAIN);
        HealthBook book = EMPTY.observe(
                        new Sign.FaultSeen(uuid(0), "", imex, FaultOrigin.POLL, "asked"), Some.SUBJECT, second(0))
                .next();

        assertThat(book.withdrawing(uuid(0))).isEmpty();
        assertThat(book.polled(
                                SomeVitals.well(0)
                                        .asks(RecoveryAction.RECOVER_IMEX_DOMAIN)
                                        .now(),
                                second(1))
                        .nextDueNanos())
                .isEmpty();
        assertThat(book.polled(SomeVitals.well(0).now(), second(1)).nextDueNanos())
                .isPresent();
    }

    @Test
    void newBootProvesEverythingGone() {
        var settled = broken(0).afterBoot("boot-2");

        assertThat(settled.next().open()).isEmpty();
        assertThat(settled.cleared()).extracting(HealthBook.Cleared::proof).containsExactly("new boot id boot-2");
    }
}
