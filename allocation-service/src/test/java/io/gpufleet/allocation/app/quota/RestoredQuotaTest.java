package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import io.gpufleet.allocation.model.quota.TestQuotas;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Quotas that are made anew, restored with an old status, or edited while pods are admitted and not created yet. */
class RestoredQuotaTest extends TestQuotaReplicas {
    private static final Duration READ = Duration.ofSeconds(3);

    private static GpuQuota quota(QuotaStatus status, QuotaLimit... limits) {
        return TestQuotas.quota("q", GpuQuota.Mode.ENFORCE, GpuQuota.AmbiguousModel.DENY, limits)
                .withStatus(status);
    }

    private static GpuQuota restored(String leader, long term, int escrow) {
        return quota(
                QuotaStatus.NONE.withLeader(leader, term).withEscrow(Map.of("A100", escrow)),
                new QuotaLimit("A100", 10));
    }

    private void read(Replica replica) {
        advance(READ);
        replica.tick();
    }

    @Test
    void quotaMadeAnewAfterATakeOverKeepsWhatThePredecessorAdmitted() {
        enforce("A100", 10);
        assertThat(active("r0").admits(4)).isTrue();
        Replica next = active("r1");
        // When the quota is deleted, and later made anew
        cluster.delete("q");
        read(next);
        enforce("A100", 10);
        read(next);
        // Then
        assertThat(next.admits(7)).isFalse();
        advance(Duration.ofSeconds(80));
        next.tick();
        assertThat(next.admits(10)).isTrue();
    }

    @Test
    void quotaReplacedBetweenTwoReadsKeepsWhatThePredecessorAdmitted() {
        enforce("A100", 10);
        assertThat(active("r0").admits(4)).isTrue();
        Replica next = active("r1");
        // When
        enforce("A100", 10);
        read(next);
        // Then
        assertThat(next.admits(7)).isFalse();
    }

    @Test
    void escrowOfAReplacedQuotaCoversWhatIsReservedBeforeTheLeaderDies() {
        enforce("A100", 10);
        Replica old = active("r0");
        assertThat(old.admits(4)).isTrue();
        enforce("A100", 10);
        read(old);
        // When
        Replica next = active("r1");
        // Then
        assertThat(next.admits(7)).isFalse();
        assertThat(next.admits(6)).isTrue();
    }

    @Test
    void quotaRestoredWithFewerEscrowThanReservedCountsBoth() {
        enforce("A100", 10);
        Replica replica = active("r0");
        assertThat(replica.admits(4)).isTrue();
        // When
        cluster.put(restored("other@5", 5, 3));
        read(replica);
        // Then
        assertThat(replica.admits(4)).isFalse();
        assertThat(replica.admits(3)).isTrue();
    }

    @Test
    void quotaRestoredWithTheTokenOfALaterTermForgetsNoReservation() {
        enforce("A100", 10);
        Replica replica = active("r0");
        assertThat(replica.admits(8)).isTrue();
        // When a status comes from a cluster with a later term
        cluster.put(restored("other@99999999", 99_999_999, 2));
        read(replica);
        read(replica);
        // Then
        assertThat(replica.leader.isLeader()).isTrue();
        assertThat(replica.admits(3)).isFalse();
        assertThat(replica.admits(2)).isTrue();
    }

    @Test
    void limitThatIsEditedKeepsWhatWasAdmittedForASuccessor() {
        enforce("A100", 10);
        Replica old = active("r0");
        assertThat(old.admits(4)).isTrue();
        cluster.put(quota(cluster.present("q").status(), new QuotaLimit("*", 10)));
        read(old);
        // When
        Replica next = active("r1");
        // Then
        assertThat(next.admits(7)).isFalse();
    }

    @Test
    void limitThatIsEditedBeforeATakeOverCountsAsUsedWhole() {
        enforce("A100", 10);
        assertThat(active("r0").admits(4)).isTrue();
        cluster.put(quota(cluster.present("q").status(), new QuotaLimit("*", 10)));
        // When
        Replica next = active("r1");
        // Then
        assertThat(next.admits(7)).isFalse();
        advance(Duration.ofSeconds(80));
        next.tick();
        assertThat(next.admits(10)).isTrue();
    }

    @Test
    void limitThatIsEditedAfterATakeOverCountsAsUsedWhole() {
        enforce("A100", 10);
        assertThat(active("r0").admits(4)).isTrue();
        Replica next = active("r1");
        // When
        cluster.put(quota(cluster.present("q").status(), new QuotaLimit("*", 10)));
        read(next);
        // Then
        assertThat(next.admits(7)).isFalse();
    }

    @Test
    void quotaOfAFormerReleaseCountsAsUsedWholeAtFirst() {
        // Given a status that was led and whose escrow cannot be read
        cluster.put(quota(QuotaStatus.NONE.withLeader("r0@5", 5), new QuotaLimit("A100", 10)));
        Replica next = active("r1");
        assertThat(next.admits(1)).isFalse();
        // When that leader, too, ends at once
        Replica later = active("r2");
        assertThat(later.admits(1)).isFalse();
        // Then
        advance(Duration.ofSeconds(80));
        later.tick();
        assertThat(later.admits(10)).isTrue();
    }

    @Test
    void nothingIsReservedOfAQuotaWhoseEscrowIsNotCarriedOverYet() {
        enforce("A100", 10);
        Replica replica = active("r0");
        cluster.put(restored("other@5", 5, 9));
        replica.answered = false;
        advance(READ);
        replica.leader.tick();
        replica.answerOnce();
        // When the quota was read and its token is not written yet
        var early = replica.ask(a100Pod(3), false);
        replica.answered = true;
        replica.settle();
        // Then
        assertThat(early.join()).isInstanceOf(AdmissionDecision.Unavailable.class);
        assertThat(replica.admits(1)).isTrue();
        assertThat(replica.admits(1)).isFalse();
    }

    @Test
    void newQuotaProlongsNoCarryOver() {
        enforce("A100", 10);
        assertThat(active("r0").admits(4)).isTrue();
        Replica next = active("r1");
        // When others are made all the time
        for (int i = 0; i < 8; i++) {
            cluster.put(TestQuotas.quota(
                    "new" + i, GpuQuota.Mode.WARN, GpuQuota.AmbiguousModel.DENY, new QuotaLimit("H100", 1)));
            advance(Duration.ofSeconds(10));
            next.tick();
        }
        // Then
        assertThat(next.admits(10)).isTrue();
        assertThat(List.copyOf(cluster.labels().keySet())).containsExactly("ml");
    }
}
