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
        return EMPTY.observe(xid(0, 79, FaultOrigin.NVML_EVENT), "H100", second(at))
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
        HealthBook book = EMPTY.observe(xid(0, 31, FaultOrigin.NVML_EVENT), "H100", second(0))
                .next();

        assertThat(book.open()).hasSize(1);
        assertThat(book.withdrawing(uuid(0))).isEmpty();
    }

    @Test
    void twoSourcesWithinFiveSecondsAreOneObservation() {
        var observed = broken(0).observe(xid(0, 79, FaultOrigin.KERNEL_LOG), "H100", second(4.9));

        assertThat(observed).isInstanceOf(HealthBook.Observed.Same.class);
        assertThat(observed.fault().observations()).isEqualTo(1);
        assertThat(observed.fault().origins()).isEqualTo(Set.of(FaultOrigin.NVML_EVENT, FaultOrigin.KERNEL_LOG));
    }

    @Test
    void twoSourcesFurtherApartAreTwoObservations() {
        var observed = broken(0).observe(xid(0, 79, FaultOrigin.KERNEL_LOG), "H100", second(5.1));

        assertThat(observed).isInstanceOf(HealthBook.Observed.Again.class);
        assertThat(observed.fault().observations()).isEqualTo(2);
    }

    @Test
    void sameSourceTwiceIsTwoObservationsHoweverSoon() {
        var observed = broken(0).observe(xid(0, 79, FaultOrigin.NVML_EVENT), "H100", second(0.001));

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
        HealthBook again = gone.observe(xid(0, 79, FaultOrigin.NVML_EVENT), "H100", second(100))
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
    void newBootProvesEverythingGone() {
        var settled = broken(0).afterBoot("boot-2");

        assertThat(settled.next().open()).isEmpty();
        assertThat(settled.cleared()).extracting(HealthBook.Cleared::proof).containsExactly("new boot id boot-2");
    }
}
