package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.TestQuotas;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** The leader of the quotas: escrow, reservations, labels. */
class QuotaLeaderTest extends TestQuotaReplicas {
    @Test
    void escrowIsRaisedBeforeTheAnswerAndCoversIt() {
        enforce("A100", 100);
        Replica replica = active("r0");
        replica.answered = false;
        var answer = replica.ask(a100Pod(3), false);
        replica.settle();
        assertThat(answer).isNotDone();
        // When the API server answers
        replica.answered = true;
        replica.settle();
        // Then
        assertThat(answer.join()).isInstanceOf(AdmissionDecision.Admitted.class);
        assertThat(cluster.present("q").status().escrow()).containsEntry("A100", 67);
        int writes = cluster.writes();
        assertThat(replica.admits(40)).isTrue();
        assertThat(cluster.writes()).isEqualTo(writes);
        // And ahead of need, so that nobody waits for it
        replica.answered = false;
        assertThat(replica.ask(a100Pod(20), false).join()).isInstanceOf(AdmissionDecision.Admitted.class);
        replica.answered = true;
        replica.settle();
        assertThat(cluster.present("q").status().escrow()).containsEntry("A100", 100);
    }

    @Test
    void waitingRequestsShareOneWrite() {
        enforce("A100", 3);
        Replica replica = active("r0");
        int writes = cluster.writes();
        List<CompletableFuture<AdmissionDecision>> answers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            answers.add(replica.ask(a100Pod(1), false));
        }
        // When
        replica.settle();
        // Then
        assertThat(answers.stream().filter(answer -> answer.join() instanceof AdmissionDecision.Admitted))
                .hasSize(3);
        assertThat(cluster.writes()).isEqualTo(writes + 1);
    }

    @Test
    void countsAreWrittenAtMostFiveTimesASecondInAll() {
        for (int i = 0; i < 100; i++) {
            cluster.put(TestQuotas.quota(
                    "q" + i, GpuQuota.Mode.WARN, GpuQuota.AmbiguousModel.DENY, new QuotaLimit("A100", 9)));
        }
        Replica replica = active("r0");
        int writes = cluster.writes();
        assertThat(replica.admits(1)).isTrue();
        // When
        for (int i = 0; i < 40; i++) {
            advance(Duration.ofMillis(250));
            replica.tick();
        }
        // Then
        assertThat(cluster.writes() - writes).isBetween(40, 55);
    }

    @Test
    void quotaThatCannotBeWrittenStopsNobodyElse() {
        enforce("A100", 4);
        GpuQuota broken =
                TestQuotas.quota("broken", GpuQuota.Mode.WARN, GpuQuota.AmbiguousModel.DENY, new QuotaLimit("A100", 9));
        cluster.put(broken);
        cluster.refuse("broken");
        Replica replica = active("r0");
        // Then
        assertThat(replica.leader.isLeader()).isTrue();
        assertThat(replica.leader.readinessFailures()).isEmpty();
        assertThat(replica.admits(4)).isTrue();
        assertThat(cluster.problems()).containsEntry("broken", "422 status is invalid");
    }

    @Test
    void quotaThatCannotBeReadIsReportedAndStopsNobodyElse() {
        enforce("A100", 4);
        cluster.unreadable("broken", "limit A100 needs gpus, devices or both");
        Replica replica = active("r0");
        // Then
        assertThat(replica.leader.readinessFailures()).isEmpty();
        assertThat(replica.admits(4)).isTrue();
        assertThat(replica.admits(1)).isFalse();
        assertThat(cluster.problems()).containsEntry("broken", "limit A100 needs gpus, devices or both");
    }

    @Test
    void podThatWentWhileNobodyWatchedCountsNoLongerAfterTheNextList() {
        enforce("A100", 2);
        GpuPod pod = a100Pod(2);
        cluster.pod(pod);
        Replica replica = active("r0");
        assertThat(replica.admits(1)).isFalse();
        // When
        cluster.removePod(pod.uid());
        advance(Duration.ofMinutes(11));
        replica.tick();
        replica.tick();
        // Then
        assertThat(replica.admits(2)).isTrue();
    }

    @Test
    void nothingIsAdmittedBeyondTheEscrowWithoutApiServer() {
        enforce("A100", 100);
        Replica replica = active("r0");
        cluster.unavailable(true);
        // When
        assertThat(replica.decide(a100Pod(1), false)).isInstanceOf(AdmissionDecision.Unavailable.class);
        // Then
        cluster.unavailable(false);
        advance(Duration.ofSeconds(1));
        replica.tick();
        for (int i = 0; i < 100; i++) {
            assertThat(replica.admits(1)).isTrue();
        }
        assertThat(replica.admits(1)).isFalse();
    }

    @Test
    void reservationWithoutPodIsReleasedAfterQuorumList() {
        enforce("A100", 2);
        Replica replica = active("r0");
        assertThat(replica.admits(2)).isTrue();
        advance(Duration.ofSeconds(69));
        replica.tick();
        assertThat(replica.admits(1)).isFalse();
        // When
        advance(Duration.ofSeconds(3));
        replica.tick();
        // Then
        assertThat(replica.admits(2)).isTrue();
    }

    @Test
    void reservationWithPodStays() {
        enforce("A100", 2);
        Replica replica = active("r0");
        GpuPod pod = a100Pod(2);
        assertThat(replica.admits(pod)).isTrue();
        cluster.pod(pod);
        // When
        advance(Duration.ofSeconds(100));
        replica.tick();
        // Then
        assertThat(replica.admits(1)).isFalse();
        replica.observe(new QuotaEvent.PodDeleted(pod.uid()));
        assertThat(replica.admits(1)).isTrue();
    }

    @Test
    void dryRunWritesAndReservesNothing() {
        enforce("A100", 1);
        Replica replica = active("r0");
        int writes = cluster.writes();
        assertThat(replica.decide(a100Pod(1), true)).isInstanceOf(AdmissionDecision.Admitted.class);
        assertThat(replica.decide(a100Pod(2), true)).isInstanceOf(AdmissionDecision.Denied.class);
        assertThat(cluster.writes()).isEqualTo(writes);
        assertThat(replica.admits(1)).isTrue();
    }

    @Test
    void labelThatIsRemovedByHandIsSetAgainWithTheNextRead() {
        enforce("A100", 10);
        Replica replica = active("r0");
        replica.observe(new QuotaEvent.NamespaceObserved("ml", Map.of(QuotaLeader.NAMESPACE_LABEL, "enforce")));
        cluster.forgetLabels();
        advance(Duration.ofSeconds(3));
        replica.tick();
        assertThat(cluster.labels()).isEmpty();
        // When
        replica.observe(new QuotaEvent.NamespaceObserved("ml", Map.of()));
        advance(Duration.ofSeconds(3));
        replica.tick();
        // Then
        assertThat(cluster.labels()).containsExactly(Map.entry("ml", true));
    }

    @Test
    void onlyNamespacesOfEnforcedQuotasAreLabelled() {
        enforce("A100", 10);
        Replica replica = active("r0");
        replica.observe(new QuotaEvent.NamespaceObserved("other", Map.of(QuotaLeader.NAMESPACE_LABEL, "enforce")));
        advance(Duration.ofSeconds(3));
        replica.tick();
        assertThat(cluster.labels()).isEqualTo(Map.of("ml", true, "other", false));
    }

    @Test
    void escrowOfARestoredQuotaIsLoweredAsIfItHadNeverBeenRaised() {
        enforce("A100", 100);
        Replica replica = active("r0");
        assertThat(replica.admits(4)).isTrue();
        GpuQuota restored = cluster.present("q");
        cluster.delete("q");
        advance(Duration.ofSeconds(3));
        replica.tick();
        // When a quota of the same name comes from a backup, with its status
        cluster.put(restored);
        advance(Duration.ofSeconds(3));
        replica.tick();
        // Then
        assertThat(cluster.present("q").status().escrow()).containsEntry("A100", 4);
    }

    /** Replicas start, crash and resume; API calls fail; pods are created late or never. */
    @Property(tries = 300)
    void admittedGpusNeverExceedTheLimit(@ForAll long seed) {
        var random = new Random(seed);
        int limit = 1 + random.nextInt(100);
        enforce("A100", limit);
        assertThat(admitted(random, limit, () -> a100Pod(1 + random.nextInt(20))))
                .isLessThanOrEqualTo(GpuAmount.of(limit));
    }

    /** Whole GPUs, MIG slices and shares at once. */
    @Property(tries = 300)
    void admittedFractionsNeverExceedTheLimit(@ForAll long seed) {
        var random = new Random(seed);
        int limit = 1 + random.nextInt(10);
        enforce("A100", limit);
        assertThat(admitted(random, limit, () -> {
                    String resource = List.copyOf(TestQuotas.FRACTIONS.keySet()).get(random.nextInt(4));
                    return fractionPod(resource, 1 + random.nextInt(5));
                }))
                .isLessThanOrEqualTo(GpuAmount.of(limit));
    }

    /** The limit is named otherwise, and counts the same pods. */
    private void editLimit(Random random) {
        GpuQuota quota = cluster.present("q");
        var limit = new QuotaLimit(
                random.nextBoolean() ? "A100" : "*", quota.limits().getFirst().max());
        cluster.put(TestQuotas.quota("q", quota.mode(), quota.ambiguousModel(), limit)
                .withStatus(quota.status()));
    }

    private GpuAmount admitted(Random random, int limit, Supplier<GpuPod> pods) {
        List<Replica> replicas = new ArrayList<>(List.of(active("r0")));
        List<GpuPod> notCreatedYet = new ArrayList<>();
        GpuAmount admitted = GpuAmount.ZERO;
        for (int step = 1; step <= 80; step++) {
            advance(Duration.ofMillis(random.nextInt(2_000)));
            replicas.getLast().tick();
            switch (random.nextInt(9)) {
                case 0 -> replicas.add(active("r" + step));
                case 1 -> cluster.unavailable(random.nextInt(3) == 0);
                case 6 -> replicas.getLast().held = random.nextBoolean();
                case 7 -> replicas.get(random.nextInt(replicas.size())).renewTerm(random);
                case 8 -> editLimit(random);
                case 2 -> replicas.get(random.nextInt(replicas.size())).tick();
                default -> {
                    GpuPod pod = pods.get();
                    // A request may still reach a replica that is no longer the leader.
                    Replica target =
                            random.nextInt(3) == 0 ? replicas.get(random.nextInt(replicas.size())) : replicas.getLast();
                    if (target.admits(pod)) {
                        admitted = admitted.plus(TestQuotas.gpus(pod));
                        notCreatedYet.add(pod);
                    }
                }
            }
            if (step % 20 == 0) {
                // A request lives for a minute: its pod is created before that, and any replica may observe it.
                notCreatedYet.forEach(cluster::pod);
                notCreatedYet.forEach(
                        pod -> replicas.get(random.nextInt(replicas.size())).observe(observation(pod)));
                notCreatedYet.clear();
            }
            assertThat(admitted).isLessThanOrEqualTo(GpuAmount.of(limit));
        }
        return admitted;
    }
}
