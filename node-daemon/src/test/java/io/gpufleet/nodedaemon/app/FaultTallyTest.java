package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.second;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultKey;
import org.junit.jupiter.api.Test;

class FaultTallyTest {
    private final FaultTally tally = new FaultTally();

    private static FaultKey xid(int code) {
        return new FaultKey(uuid(0), new FaultCode.Xid(code));
    }

    @Test
    void recentCountsForgetAndTotalsDoNot() {
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
                new FaultKey(uuid(0), new FaultCode.Plain(FaultCode.Kind.GPU_LOST)),
                second(1).nanos());

        FaultTally.Tally read = tally.read(uuid(0), second(2).nanos());
        assertThat(read.faults()).isEqualTo(2);
        assertThat(read.lastXid()).isEqualTo(79);
        assertThat(tally.read(uuid(1), second(2).nanos())).isEqualTo(FaultTally.Tally.NOTHING);
    }

    @Test
    void xidOfAnEarlierStartIsStillTheLastOneButCountsNotAgain() {
        tally.inherited(xid(79));

        FaultTally.Tally read = tally.read(uuid(0), second(2).nanos());
        assertThat(read.lastXid()).isEqualTo(79);
        assertThat(read.faults()).isZero();
        assertThat(read.xids()).isEmpty();
    }

    @Test
    void codesBeyondAnyCatalogueDoNotGrowThePage() {
        for (int code = 1; code <= 10_000; code++) {
            tally.observed(xid(code), second(0).nanos());
        }

        FaultTally.Tally read = tally.read(uuid(0), second(1).nanos());
        assertThat(read.xids()).hasSizeLessThan(300);
        assertThat(read.xids().values().stream().mapToLong(Long::longValue).sum())
                .isEqualTo(10_000);
        assertThat(read.lastXid()).isEqualTo(10_000);
    }
}
