package io.gpufleet.allocation.model.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.quota.QuotaFencingToken.Acquisition;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Leases on the leadership of quotas. */
class QuotaFencingTokenTest {
    private static GpuQuota ledBy(String leader, long term) {
        return TestQuotas.enforced("q")
                .withStatus(new QuotaStatus(
                        leader, term, Map.of("A100", 64), Map.of("A100", GpuAmount.of(3)), new TreeSet<>()));
    }

    @Test
    void nextTermIsAboveEveryKnownTermAndNotBelowTheClock() {
        assertThat(QuotaFencingToken.nextTerm("r0", List.of(), 1_000, 5))
                .isEqualTo(new QuotaFencingToken("r0@1000", 1_000, 5));
        assertThat(QuotaFencingToken.nextTerm("r0", List.of(ledBy("r1@2000", 2_000), ledBy("r1@7", 7)), 1_000, 5)
                        .term())
                .isEqualTo(2_001);
    }

    @Test
    void leaseIsTheNewestUntilAnotherReplicaLedAQuota() {
        var lease = new QuotaFencingToken("r0@9", 9, 0);
        assertThat(lease.isNewest(List.of())).isTrue();
        assertThat(lease.isNewest(List.of(ledBy("r0@9", 9), ledBy("r1@8", 8)))).isTrue();
        assertThat(lease.isNewest(List.of(ledBy("r0@9", 9), ledBy("r1@10", 10))))
                .isFalse();
        assertThat(lease.isNewest(List.of(ledBy("r1@9", 9)))).isFalse();
    }

    @Test
    void quotaWithTheTokenIsHeld() {
        var lease = new QuotaFencingToken("r0@9", 9, 0);
        assertThat(lease.acquire(ledBy("r0@9", 9))).isEqualTo(new Acquisition.Held());
        assertThat(lease.leads(ledBy("r0@9", 9))).isTrue();
    }

    @Test
    void quotaOfALowerTermIsWrittenWithTheTokenAndItsEscrow() {
        assertThat(new QuotaFencingToken("r0@9", 9, 0).acquire(ledBy("r1@8", 8)))
                .isEqualTo(new Acquisition.Write(new QuotaStatus(
                        "r0@9", 9, Map.of("A100", 64), Map.of("A100", GpuAmount.of(3)), new TreeSet<>())));
    }

    @Test
    void quotaOfAHigherTermSupersedesTheLease() {
        assertThat(new QuotaFencingToken("r0@9", 9, 0).acquire(ledBy("r1@10", 10)))
                .isEqualTo(new Acquisition.Superseded("r1@10"));
    }

    @Test
    void leaseIsValidFor8SecondsAfterARenewal() {
        long seconds = 1_000_000_000;
        var lease = new QuotaFencingToken("r0@9", 9, 0);
        assertThat(lease.isValid(8 * seconds - 1)).isTrue();
        assertThat(lease.isValid(8 * seconds)).isFalse();
        assertThat(lease.renewed(5 * seconds).isValid(12 * seconds)).isTrue();
    }
}
