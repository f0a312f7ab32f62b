package io.gpufleet.nodedaemon.app.counters;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import org.junit.jupiter.api.Test;

class FaultOccurrenceCountersTest {
    private final FaultOccurrenceCounters tally = new FaultOccurrenceCounters();

    private static FaultKey xid(int code) {
        return new FaultKey(uuid(0), new FaultCode.Xid(code));
    }

    @Test
    void recentCountsExpireAndTotalsDoNot() {
        tally.observed(xid(31), second(0).nanos());
        tally.observed(xid(31), second(200).nanos());

        assertThat(tally.read(uuid(0), second(250).nanos()).recentXids()).containsExactly(entry(31, 2));
        assertThat(tally.read(uuid(0), second(310).nanos()).recentXids()).containsExactly(entry(31, 1));
        assertThat(tally.read(uuid(0), second(5000).nanos()).recentXids()).containsExactly(entry(31, 0));
        assertThat(tally.read(uuid(0), second(5000).nanos()).xids()).containsExactly(entry(31, 2L));
    }

    @Test
    void otherFaultsCountAsFaultsOnly() {
        tally.observed(xid(79), second(0).nanos());
        tally.observed(
                new FaultKey(uuid(0), new FaultCode.WithoutCode(FaultKind.GPU_LOST)),
                second(1).nanos());

        FaultOccurrenceCounters.GpuFaultCounts read =
                tally.read(uuid(0), second(2).nanos());
        assertThat(read.faults()).isEqualTo(2);
        assertThat(read.lastXid()).isEqualTo(79);
        assertThat(tally.read(uuid(1), second(2).nanos())).isEqualTo(FaultOccurrenceCounters.GpuFaultCounts.NONE);
    }

    @Test
    void xidOfAnEarlierProcessIsTheLastOneButNotCountedAgain() {
        tally.restored(xid(79));

        FaultOccurrenceCounters.GpuFaultCounts read =
                tally.read(uuid(0), second(2).nanos());
        assertThat(read.lastXid()).isEqualTo(79);
        assertThat(read.faults()).isZero();
        assertThat(read.xids()).isEmpty();
    }

    @Test
    void unknownXidsShareOneCounter() {
        for (int code = 1; code <= 10_000; code++) {
            tally.observed(xid(code), second(0).nanos());
        }

        FaultOccurrenceCounters.GpuFaultCounts read =
                tally.read(uuid(0), second(1).nanos());
        assertThat(read.xids()).hasSizeLessThan(300);
        assertThat(read.xids().values().stream().mapToLong(Long::longValue).sum())
                .isEqualTo(10_000);
        assertThat(read.lastXid()).isEqualTo(10_000);
    }
}
