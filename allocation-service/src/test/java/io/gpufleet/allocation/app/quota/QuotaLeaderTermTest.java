package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.TestQuotas;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Terms and leases of the leader of the quotas, and its succession. */
class QuotaLeaderTermTest extends TestQuotaReplicas {
    @Test
    void successorCountsWholeEscrowUntilReservationsOfPredecessorExpire() {
        enforce("A100", 10);
        Replica old = active("r0");
        assertThat(old.admits(4)).isTrue();
        // When the leader crashed before its pod was created
        Replica next = active("r1");
        // Then
        assertThat(next.decide(a100Pod(1), false))
                .isInstanceOfSatisfying(
                        AdmissionDecision.Denied.class,
                        denied -> assertThat(denied.message()).contains("10 carried over from the previous leader"));
        advance(Duration.ofSeconds(60));
        next.tick();
        assertThat(next.admits(1)).isFalse();
        advance(Duration.ofSeconds(12));
        next.tick();
        assertThat(next.admits(10)).isTrue();
    }

    @Test
    void termThatBeginsDuringTheListOfTheFormerOneLeadsAfterItsOwnList() {
        enforce("A100", 10);
        Replica replica = new Replica("r0").listed();
        replica.backgroundAnswered = false;
        replica.begin();
        replica.end();
        replica.begin();
        assertThat(replica.leader.isLeader()).isFalse();
        // When
        replica.backgroundAnswered = true;
        replica.settle();
        // Then
        assertThat(replica.leader.isLeader()).isTrue();
        assertThat(replica.admits(10)).isTrue();
    }

    @Test
    void resigningLeaderLowersEscrowToWhatIsUsed() {
        enforce("A100", 10);
        Replica old = active("r0");
        assertThat(old.admits(4)).isTrue();
        // When
        old.resign();
        // Then
        assertThat(cluster.present("q").status().escrow()).containsEntry("A100", 4);
        assertThat(active("r1").admits(6)).isTrue();
    }

    @Test
    void resigningLeaderWritesOnlyWhatASuccessorWouldCountTooHigh() {
        for (int i = 0; i < 50; i++) {
            cluster.put(TestQuotas.quota(
                    "q" + i, GpuQuota.Mode.WARN, GpuQuota.AmbiguousModel.DENY, new QuotaLimit("A100", 100)));
        }
        enforce("A100", 100);
        Replica replica = active("r0");
        assertThat(replica.admits(4)).isTrue();
        int writes = cluster.writes();
        // When the counts of all quotas have changed
        assertThat(replica.resign()).isTrue();
        // Then
        assertThat(cluster.writes()).isEqualTo(writes + 1);
        assertThat(cluster.present("q").status().escrow()).containsEntry("A100", 4);
    }

    @Test
    void replicaWhoseTokenWasReplacedStepsDown() {
        enforce("A100", 10);
        Replica old = active("r0");
        Replica next = active("r1");
        // When
        assertThat(old.decide(a100Pod(1), false)).isInstanceOf(AdmissionDecision.Unavailable.class);
        // Then
        assertThat(old.leader.isLeader()).isFalse();
        assertThat(next.leader.isLeader()).isTrue();
        assertThat(old.leader.readinessFailures())
                .singleElement()
                .asString()
                .startsWith("r1@")
                .contains("leads the quotas");
    }

    @Test
    void expiredLeaseDecidesNothing() {
        enforce("A100", 10);
        Replica replica = active("r0");
        assertThat(replica.admits(1)).isTrue();
        cluster.unavailable(true);
        // When
        advance(Duration.ofSeconds(9));
        // Then
        assertThat(replica.decide(a100Pod(1), false)).isInstanceOf(AdmissionDecision.Unavailable.class);
        cluster.unavailable(false);
        replica.tick();
        assertThat(replica.admits(1)).isTrue();
    }

    @Test
    void replicaWithoutItsLeaseDecidesAndWritesNothing() {
        enforce("A100", 100);
        Replica replica = active("r0");
        assertThat(replica.admits(3)).isTrue();
        int writes = cluster.writes();
        // When
        replica.held = false;
        replica.observe(new QuotaEvent.NamespaceObserved("other", Map.of(QuotaLeader.NAMESPACE_LABEL, "enforce")));
        advance(Duration.ofSeconds(3));
        replica.tick();
        // Then
        assertThat(replica.leader.isLeader()).isFalse();
        assertThat(replica.decide(a100Pod(1), false)).isInstanceOf(AdmissionDecision.Unavailable.class);
        replica.resign();
        assertThat(cluster.writes()).isEqualTo(writes);
        assertThat(cluster.labels()).doesNotContainKey("other");
    }

    @Test
    void leaseIsAskedAfterTheReadThatPrecedesAWrite() {
        enforce("A100", 100);
        Replica replica = active("r0");
        replica.observe(new QuotaEvent.NamespaceObserved("other", Map.of(QuotaLeader.NAMESPACE_LABEL, "enforce")));
        cluster.put(
                TestQuotas.quota("q2", GpuQuota.Mode.ENFORCE, GpuQuota.AmbiguousModel.DENY, new QuotaLimit("A100", 1)));
        int writes = cluster.writes();
        // When the lease ends while the quotas are read
        cluster.onRead(() -> replica.held = false);
        advance(Duration.ofSeconds(3));
        replica.tick();
        // Then
        assertThat(cluster.writes()).isEqualTo(writes);
        assertThat(cluster.labels()).doesNotContainKey("other");
        assertThat(cluster.present("q2").status().leader()).isEmpty();
    }

    @Test
    void replicaGoesOnWhereItWasWhenItsLeaseIsHeldAgain() {
        enforce("A100", 10);
        Replica replica = active("r0");
        assertThat(replica.admits(4)).isTrue();
        replica.held = false;
        advance(Duration.ofSeconds(20));
        replica.tick();
        // When
        replica.held = true;
        replica.tick();
        // Then
        assertThat(replica.leader.isLeader()).isTrue();
        assertThat(replica.admits(7)).isFalse();
        assertThat(replica.admits(6)).isTrue();
    }

    @Test
    void newTermOfTheSameReplicaKeepsItsReservationsAndCarriesNothingOver() {
        enforce("A100", 10);
        Replica replica = active("r0");
        assertThat(replica.admits(4)).isTrue();
        replica.end();
        assertThat(replica.leader.isLeader()).isFalse();
        // When no other replica led in between
        replica.begin();
        // Then
        assertThat(replica.admits(7)).isFalse();
        assertThat(replica.admits(6)).isTrue();
    }

    @Test
    void replicaThatIsActiveAgainAfterAnotherOneLeadsANewTerm() {
        enforce("A100", 10);
        Replica first = active("r0");
        assertThat(first.admits(4)).isTrue();
        first.end();
        Replica second = active("r1");
        second.end();
        // When
        first.begin();
        // Then
        assertThat(first.leader.isLeader()).isTrue();
        assertThat(cluster.present("q").status().leader()).startsWith("r0@");
        assertThat(first.decide(a100Pod(1), false)).isInstanceOf(AdmissionDecision.Denied.class);
    }

    @Test
    void nobodyDecidesBeforeNamespacesNodesPodsAndModelsAreListed() {
        enforce("A100", 10);
        Replica replica = new Replica("r0").begin();
        for (ClusterSyncPrecondition input : ClusterSyncPrecondition.values()) {
            assertThat(replica.leader.isLeader()).as("before %s", input).isFalse();
            assertThat(replica.admits(1)).isFalse();
            assertThat(replica.leader.readinessFailures()).contains(input.missing());
            // When
            replica.leader.listed(input);
            replica.settle();
        }
        // Then
        assertThat(replica.leader.isLeader()).isTrue();
        assertThat(replica.admits(1)).isTrue();
    }

    @Test
    void replicaThatSteppedDownLeadsAgainWhileItIsActive() {
        enforce("A100", 10);
        Replica replica = active("r0");
        Replica other = active("r1");
        assertThat(replica.decide(a100Pod(1), false)).isInstanceOf(AdmissionDecision.Unavailable.class);
        other.end();
        // When no election comes, since this replica was active all the time
        advance(Duration.ofSeconds(3));
        replica.tick();
        // Then
        assertThat(replica.leader.isLeader()).isTrue();
        assertThat(cluster.present("q").status().leader()).startsWith("r0@");
    }

    @Test
    void electionWhileTheQuotasAreReadIsNotForgotten() {
        enforce("A100", 10);
        Replica replica = active("r0");
        replica.answered = false;
        advance(Duration.ofSeconds(3));
        replica.tick();
        replica.active.end();
        replica.leader.suspend();
        // When
        replica.active.begin(() -> true);
        replica.leader.elected();
        replica.answered = true;
        replica.settle();
        // Then
        assertThat(replica.leader.isLeader()).isTrue();
    }
}
