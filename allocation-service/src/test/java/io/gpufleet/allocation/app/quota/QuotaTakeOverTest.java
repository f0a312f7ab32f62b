package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.LabelSelector;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** What a successor decides before it has written every token and listed all pods. */
class QuotaTakeOverTest extends TestQuotaReplicas {
    private void enforceNamespace(String name, String namespace, int gpus) {
        cluster.put(new GpuQuota(
                name,
                "1",
                Set.of(namespace),
                LabelSelector.NOTHING,
                List.of(new QuotaLimit("A100", gpus)),
                GpuQuota.Mode.ENFORCE,
                GpuQuota.AmbiguousModel.DENY,
                QuotaStatus.NONE));
    }

    private GpuPod podOf(String namespace, int gpus) {
        GpuPod pod = a100Pod(gpus);
        return new GpuPod(
                namespace,
                pod.name(),
                pod.generateName(),
                pod.uid(),
                true,
                Instant.MAX,
                pod.constraints(),
                pod.containers());
    }

    @Test
    void escrowIsCarriedOverAlthoughTheAnswerToTheTokenWasLost() {
        enforce("A100", 10);
        assertThat(active("r0").admits(4)).isTrue();
        // When
        cluster.loseAnswers(1);
        Replica next = active("r1");
        advance(Duration.ofSeconds(3));
        next.tick();
        // Then
        assertThat(next.leader.isLeader()).isTrue();
        assertThat(next.admits(7)).isFalse();
        // And for 70 s since the token was seen
        advance(Duration.ofSeconds(67));
        next.tick();
        assertThat(next.admits(7)).isFalse();
        advance(Duration.ofSeconds(15));
        next.tick();
        assertThat(next.admits(10)).isTrue();
    }

    @Test
    void successorDecidesFromWhatTheEscrowLeavesBeforeThePodsAreListed() {
        enforce("A100", 100);
        assertThat(active("r0").admits(4)).isTrue();
        Replica next = new Replica("r1").listed();
        next.backgroundAnswered = false;
        // When
        next.begin();
        // Then 68 of them may have been admitted already
        assertThat(next.leader.isLeader()).isTrue();
        assertThat(next.admits(33)).isFalse();
        assertThat(next.admits(32)).isTrue();
    }

    @Test
    void podsThatAreListedAfterwardsCountWithinWhatWasCarriedOver() {
        enforce("A100", 100);
        Replica old = active("r0");
        GpuPod pod = a100Pod(4);
        assertThat(old.admits(pod)).isTrue();
        cluster.pod(pod);
        Replica next = new Replica("r1").listed();
        next.backgroundAnswered = false;
        next.begin();
        assertThat(next.admits(30)).isTrue();
        // When
        next.backgroundAnswered = true;
        next.settle();
        // Then
        assertThat(next.admits(3)).isFalse();
        assertThat(next.admits(2)).isTrue();
        advance(Duration.ofSeconds(80));
        next.tick();
        assertThat(next.admits(97)).isFalse();
        assertThat(next.admits(96)).isTrue();
    }

    @Test
    void quotaThatNobodyLedIsDecidedOnAfterThePodsAreListed() {
        enforceNamespace("led", "ml", 10);
        assertThat(active("r0").admits(1)).isTrue();
        enforceNamespace("new", "vision", 4);
        Replica next = new Replica("r1").listed();
        cluster.pod(podOf("vision", 3));
        next.backgroundAnswered = false;
        next.begin();
        // When
        AdmissionDecision early = next.decide(podOf("vision", 2), false);
        // Then
        assertThat(early)
                .isInstanceOfSatisfying(
                        AdmissionDecision.Unavailable.class,
                        reason -> assertThat(reason.message()).isEqualTo("GpuQuota new is not led yet; retry"));
        assertThat(cluster.present("new").status().term()).isZero();
        // And
        next.backgroundAnswered = true;
        next.settle();
        assertThat(next.decide(podOf("vision", 2), false)).isInstanceOf(AdmissionDecision.Denied.class);
        assertThat(next.decide(podOf("vision", 1), false)).isInstanceOf(AdmissionDecision.Admitted.class);
    }

    @Test
    void termThatBeginsDuringTheListOfTheFormerOneListsForItself() {
        enforceNamespace("led", "ml", 10);
        assertThat(active("r0").admits(1)).isTrue();
        enforceNamespace("new", "vision", 4);
        Replica next = new Replica("r1").listed();
        next.backgroundAnswered = false;
        next.begin();
        next.end();
        next.begin();
        // When time passes before the first list is answered
        advance(Duration.ofMinutes(11));
        next.tick();
        next.backgroundAnswered = true;
        next.settle();
        // Then
        assertThat(next.decide(podOf("vision", 4), false)).isInstanceOf(AdmissionDecision.Admitted.class);
    }

    @Test
    void leaderThatCannotListThePodsStaysReadyForWhatItCanDecide() {
        enforce("A100", 100);
        assertThat(active("r0").admits(4)).isTrue();
        cluster.failPods(true);
        Replica next = active("r1");
        advance(Duration.ofSeconds(3));
        next.tick();
        // Then
        assertThat(next.leader.readinessFailures()).isEmpty();
        assertThat(next.admits(32)).isTrue();
        assertThat(next.admits(1)).isFalse();
        // And lists them as soon as it can
        cluster.failPods(false);
        advance(Duration.ofSeconds(80));
        next.tick();
        next.tick();
        assertThat(next.admits(60)).isTrue();
    }

    @Test
    void quotaForWhichAReviewWaitsIsAcquiredBeforeTheOthers() {
        for (int i = 0; i < 100; i++) {
            enforceNamespace("q%03d".formatted(i), "ns%d".formatted(i), 10);
        }
        active("r0").end();
        Replica next = new Replica("r1").listed();
        next.answered = false;
        next.begin();
        next.answerOnce();
        // When
        assertThat(next.ask(podOf("ns99", 1), false).join()).isInstanceOf(AdmissionDecision.Unavailable.class);
        for (int i = 0; i < 20; i++) {
            next.answerOnce();
        }
        // Then
        assertThat(cluster.present("q099").status().leader()).startsWith("r1@");
        assertThat(cluster.present("q098").status().leader()).startsWith("r0@");
        next.answered = true;
        assertThat(next.decide(podOf("ns99", 1), false)).isInstanceOf(AdmissionDecision.Admitted.class);
    }

    @Test
    void standbyReadsTheQuotasAheadAndWritesNothing() {
        enforce("A100", 10);
        active("r0");
        Replica standby = new Replica("r1").listed();
        int writes = cluster.writes();
        // When
        advance(Duration.ofSeconds(30));
        standby.tick();
        // Then
        assertThat(standby.leader.views()).singleElement().satisfies(view -> {
            assertThat(view.name()).isEqualTo("q");
            assertThat(view.leader()).isFalse();
        });
        assertThat(standby.leader.readinessFailures()).isEmpty();
        assertThat(cluster.writes()).isEqualTo(writes);
    }

    @Test
    void whatWasReadBeforeAnElectionIsNotWhatIsLedBy() {
        enforce("A100", 100);
        Replica first = active("r0");
        assertThat(first.admits(4)).isTrue();
        first.end();
        first.answered = false;
        advance(Duration.ofSeconds(31));
        first.tick();
        first.answerWithoutATurn();
        // When another replica leads and admits in between
        Replica second = active("r1");
        assertThat(second.admits(30)).isTrue();
        second.end();
        first.answered = true;
        first.begin();
        // Then
        assertThat(first.admits(61)).isFalse();
        assertThat(cluster.present("q").status().leader()).startsWith("r0@");
    }

    @Test
    void limitThatIsRaisedWhileALeaderDiesCountsWhatWasUsedBeyondTheFormerOne() {
        enforce("A100", 200);
        Replica old = active("r0");
        GpuPod pod = a100Pod(150);
        assertThat(old.admits(pod)).isTrue();
        old.observe(observation(pod));
        edit(80);
        advance(Duration.ofSeconds(31));
        old.tick();
        old.tick();
        // When
        edit(160);
        Replica next = new Replica("r1").listed();
        next.backgroundAnswered = false;
        next.begin();
        // Then
        assertThat(next.admits(11)).isFalse();
        assertThat(next.admits(10)).isTrue();
    }

    private void edit(int limit) {
        GpuQuota before = cluster.present("q");
        enforce("A100", limit);
        cluster.put(cluster.present("q").withStatus(before.status()));
    }

    /** Replicas that take over at any moment, lose answers, see what others admitted by lists only, and edits. */
    @Property(tries = 500)
    void noMoreIsAdmittedThanTheLimitWhileLeadersFollowEachOther(@ForAll long seed) {
        var random = new Random(seed);
        int limit = 20 + random.nextInt(200);
        enforce("A100", limit);
        Replica leader = active("r0");
        int admitted = 0;
        for (int step = 1; step < 40; step++) {
            int gpus = 1 + random.nextInt(12);
            GpuPod pod = a100Pod(gpus);
            if (leader.admits(pod)) {
                admitted += gpus;
                cluster.pod(pod);
                assertThat(admitted).as("seed %d step %d", seed, step).isLessThanOrEqualTo(limit);
            }
            switch (random.nextInt(9)) {
                case 0 -> cluster.loseAnswers(1 + random.nextInt(3));
                case 1 -> {
                    leader = new Replica("r" + step).listed();
                    leader.backgroundAnswered = random.nextBoolean();
                    leader.begin();
                }
                case 2 -> leader.renewTerm(random);
                case 3 -> {
                    advance(Duration.ofMillis(random.nextInt(3_000)));
                    leader.tick();
                }
                case 4 -> {
                    limit = 20 + random.nextInt(200);
                    edit(limit);
                    advance(Duration.ofSeconds(3));
                    leader.tick();
                }
                default -> leader.settle();
            }
        }
    }
}
