package io.gpufleet.nodedaemon.model.polls;

import static io.gpufleet.nodedaemon.model.Some.second;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Conditions;
import io.gpufleet.nodedaemon.model.Conditions.Fabric;
import io.gpufleet.nodedaemon.model.FaultCode.Kind;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.SomeVitals;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PollBookTest {
    private PollBook book = PollBook.empty(0);

    private Word poll(Kind kind, double at, SomeVitals vitals) {
        PollBook.Judged judged = book.polled(vitals.now(), second(at));
        book = judged.next();
        return Objects.requireNonNull(judged.words().get(kind));
    }

    private static SomeVitals well() {
        return SomeVitals.well(0);
    }

    @Test
    void gpuThatIsWellHasNoFault() {
        for (int at = 0; at <= 120; at += 10) {
            assertThat(book.polled(well().now(), second(at)).words().values())
                    .noneMatch(word -> word instanceof Word.Stands || word instanceof Word.Happened);
            book = book.polled(well().now(), second(at)).next();
        }
        assertThat(book.polled(well().now(), second(130)).words().values()).allMatch(Word.Over.class::isInstance);
    }

    @Test
    void gpuThatSaysNothingIsJudgedByNothing() {
        var mute = well().with(Conditions.unavailable("not read"))
                .memory(new Unavailable<>("NOT_SUPPORTED"))
                .replays(new Unavailable<>("NOT_SUPPORTED"))
                .clockReasons(new Unavailable<>("NOT_SUPPORTED"));

        assertThat(book.polled(mute.now(), second(0)).words().values()).allMatch(Word.Mute.class::isInstance);
    }

    @Test
    void pendingOrFailedRemapStandsUntilNeitherIs() {
        assertThat(poll(Kind.ROW_REMAP, 0, well().remap(true, false, false))).isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.ROW_REMAP, 10, well().remap(false, true, false))).isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.ROW_REMAP, 20, well().remap(false, false, true))).isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.ROW_REMAP, 30, well())).isInstanceOf(Word.Over.class);
    }

    @Test
    void eachRiseOfUncorrectableErrorsIsAnEvent() {
        assertThat(poll(Kind.ECC_UNCORRECTABLE, 0, well().uncorrectable(5))).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.ECC_UNCORRECTABLE, 10, well().uncorrectable(6)))
                .isEqualTo(new Word.Happened("uncorrectable ECC errors rose from 5 to 6"));
        assertThat(poll(Kind.ECC_UNCORRECTABLE, 20, well().uncorrectable(6))).isInstanceOf(Word.Over.class);
        assertThat(poll(Kind.ECC_UNCORRECTABLE, 30, well().uncorrectable(0))).isInstanceOf(Word.Over.class);
        assertThat(poll(Kind.ECC_UNCORRECTABLE, 40, well().uncorrectable(1))).isInstanceOf(Word.Happened.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"NOT_STARTED", "IN_PROGRESS", "FAILED"})
    void linksAreDownUntilTheFabricIsUpAndThatIsNoFaultOfTheirs(Fabric fabric) {
        assertThat(poll(Kind.NVLINK, 0, well().linksDown(18).fabric(new Known<>(fabric))))
                .isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.NVLINK, 10, well().linksDown(18))).isEqualTo(new Word.Stands("18 NVLinks are down"));
    }

    @Test
    void linksThatAreDownRightAfterABootAreStillBeingTrained() {
        book = PollBook.empty(second(300).nanos());
        var noFabric = well().linksDown(1).fabric(new Unavailable<>("NOT_SUPPORTED"));

        assertThat(poll(Kind.NVLINK, 299, noFabric)).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.NVLINK, 300, noFabric)).isInstanceOf(Word.Stands.class);
        // The error counter has to be quiet for a minute as well.
        assertThat(poll(Kind.NVLINK, 359, well())).isInstanceOf(Word.Over.class);
    }

    @Test
    void linkErrorsStandUntilTheyRestForAMinute() {
        assertThat(poll(Kind.NVLINK, 0, well().linkErrors(3))).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.NVLINK, 10, well().linkErrors(4))).isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.NVLINK, 60, well().linkErrors(4))).isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.NVLINK, 71, well().linkErrors(4))).isInstanceOf(Word.Over.class);
    }

    @Test
    void fabricThatFailedIsAFaultAndOneThatNeverEndsToo() {
        assertThat(poll(Kind.FABRIC, 0, well().fabric(new Known<>(Fabric.FAILED))))
                .isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.FABRIC, 10, well().fabric(new Known<>(Fabric.IN_PROGRESS))))
                .isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.FABRIC, 309, well().fabric(new Known<>(Fabric.IN_PROGRESS))))
                .isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.FABRIC, 310, well().fabric(new Known<>(Fabric.IN_PROGRESS))))
                .isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.FABRIC, 320, well())).isEqualTo(new Word.Over("the fabric is up; the fabric is up"));
    }

    @Test
    void slowLinkOfAnIdleGpuIsNoFault() {
        for (int at = 0; at < 600; at += 10) {
            assertThat(poll(Kind.PCIE, at, well().link(1, 16).load(0))).isNotInstanceOf(Word.Stands.class);
        }
    }

    @Test
    void slowLinkOfABusyGpuIsAFaultThatIdlenessDoesNotEnd() {
        poll(Kind.PCIE, 0, well().link(5, 8).load(90));
        assertThat(poll(Kind.PCIE, 10, well().link(5, 8).load(90))).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.PCIE, 20, well().link(5, 8).load(90)))
                .isEqualTo(new Word.Stands("the PCIe link of a busy GPU runs at gen 5 x8, it can gen 5 x16"));
        assertThat(poll(Kind.PCIE, 90, well().link(1, 8).load(0))).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.PCIE, 100, well())).isInstanceOf(Word.Over.class);
    }

    @Test
    void replaysAreAFaultOnlyWhereThereAreMoreThanTheLinkMayHave() {
        // 16 lanes of generation 5 may have 31 a minute.
        poll(Kind.PCIE, 0, well().replays(new Known<>(100L)));
        assertThat(poll(Kind.PCIE, 30, well().replays(new Known<>(131L)))).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.PCIE, 40, well().replays(new Known<>(132L)))).isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.PCIE, 95, well().replays(new Known<>(140L)))).isInstanceOf(Word.Over.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {0x8, 0x40, 0x80})
    void throttlingIsNoFaultBeforeItLasts(long reason) {
        var throttled = well().clockReasons(new Known<>(reason));

        assertThat(poll(Kind.THROTTLE, 0, throttled)).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.THROTTLE, 1, throttled)).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.THROTTLE, 2, throttled)).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.THROTTLE, 20, throttled)).isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.THROTTLE, 30, well())).isInstanceOf(Word.Over.class);
        assertThat(poll(Kind.THROTTLE, 40, throttled)).isInstanceOf(Word.Unclear.class);
    }

    @Test
    void powerCapIsNoThrottling() {
        for (int at = 0; at < 100; at += 10) {
            assertThat(poll(Kind.THROTTLE, at, well().clockReasons(new Known<>(0x4L | 0x20L))))
                    .isInstanceOf(Word.Over.class);
        }
    }

    @Test
    void powerThatCanNotBeReadIsAFaultOnceItLasts() {
        var blind = well().powerReadable(false);

        assertThat(poll(Kind.POWER_UNREADABLE, 0, blind)).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.POWER_UNREADABLE, 10, blind)).isInstanceOf(Word.Unclear.class);
        assertThat(poll(Kind.POWER_UNREADABLE, 20, blind)).isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.POWER_UNREADABLE, 30, well())).isInstanceOf(Word.Over.class);
    }

    @Test
    void corruptedInfoRomIsAFault() {
        assertThat(poll(Kind.INFOROM, 0, well().infoRom(false))).isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.INFOROM, 10, well().infoRom(true))).isInstanceOf(Word.Over.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"UNKNOWN", "GPU_IS_LOST", "RESET_REQUIRED", "CODE_77"})
    void memoryThatCanNotBeReadIsAFault(String reason) {
        assertThat(poll(Kind.MEMORY_UNREADABLE, 0, well().memory(new Unavailable<>(reason))))
                .isInstanceOf(Word.Stands.class);
        assertThat(poll(Kind.MEMORY_UNREADABLE, 10, well())).isInstanceOf(Word.Over.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"NOT_SUPPORTED", "NO_PERMISSION", "LIB_RM_VERSION_MISMATCH", "not asked for"})
    void memoryThatTheBoardDoesNotTellIsNone(String reason) {
        Reading<Long> memory = new Unavailable<>(reason);

        assertThat(poll(Kind.MEMORY_UNREADABLE, 0, well().memory(memory))).isInstanceOf(Word.Mute.class);
    }
}
