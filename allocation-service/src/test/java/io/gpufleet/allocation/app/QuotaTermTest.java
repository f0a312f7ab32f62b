package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.quota.Answer;
import io.gpufleet.allocation.model.quota.ContainerAsk;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.GpuResource;
import io.gpufleet.allocation.model.quota.LabelSelector;
import io.gpufleet.allocation.model.quota.NodeFacts;
import io.gpufleet.allocation.model.quota.Placement;
import io.gpufleet.allocation.model.quota.PodAsk;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Decisions on quotas: what is admitted, what is written before it, and what a successor makes of it. */
class QuotaTermTest {
    private static final Clock CLOCK = Clock.fixed(Instant.ofEpochMilli(1_000_000), ZoneOffset.UTC);

    private final FakeCluster cluster = new FakeCluster();
    private long now;
    private int pods;

    /** One replica with what it knows. */
    private final class Replica {
        final QuotaBook book = new QuotaBook();
        final QuotaTerm term;

        Replica(String name) {
            term = new QuotaTerm(cluster, book, name, CLOCK, () -> now);
            book.node(new NodeFacts("a", Map.of("gpu", "a100"), true));
            book.node(new NodeFacts("h", Map.of("gpu", "h100"), true));
            book.models("a", List.of(new GpuModel("NVIDIA A100", "A100", 8)));
            book.models("h", List.of(new GpuModel("NVIDIA H100", "H100", 8)));
            book.namespace("ml", Map.of());
        }

        Answer ask(PodAsk pod, boolean dryRun) {
            var answer = new CompletableFuture<Answer>();
            term.answer(List.of(new QuotaTerm.Question(pod, dryRun, answer)));
            return answer.join();
        }

        boolean admits(int gpus) {
            return admits(pod(gpus, Map.of("gpu", "a100")));
        }

        boolean admits(PodAsk pod) {
            return ask(pod, false) instanceof Answer.Admitted;
        }
    }

    private Replica active(String name) {
        var replica = new Replica(name);
        replica.term.wanted();
        return replica;
    }

    private PodAsk pod(int gpus, Map<String, String> selector) {
        pods++;
        return new PodAsk(
                "ml",
                "pod-" + pods,
                "",
                "uid-" + pods,
                true,
                false,
                new Placement(selector, List.of(), ""),
                List.of(new ContainerAsk(
                        "main", ContainerAsk.Kind.APP, Map.of(), Map.of(GpuResource.GPU, Integer.toString(gpus)))));
    }

    private static GpuQuota quota(String name, GpuQuota.Mode mode, GpuQuota.Unpinned unpinned, QuotaLimit... limits) {
        return new GpuQuota(
                name, "", Set.of("ml"), LabelSelector.NOTHING, List.of(limits), mode, unpinned, QuotaStatus.NONE);
    }

    private void enforce(String model, int gpus) {
        cluster.put(quota("q", GpuQuota.Mode.ENFORCE, GpuQuota.Unpinned.DENY, new QuotaLimit(model, gpus)));
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    @Test
    void escrowStandsBeforeTheAnswerAndCoversIt() {
        enforce("A100", 100);
        Replica replica = active("r0");
        // When
        assertThat(replica.admits(3)).isTrue();
        // Then
        assertThat(cluster.quota("q").status().escrow()).containsEntry("A100", 64);
        int writes = cluster.writes();
        assertThat(replica.admits(60)).isTrue();
        assertThat(cluster.writes()).isEqualTo(writes);
        assertThat(replica.admits(2)).isTrue();
        assertThat(cluster.quota("q").status().escrow()).containsEntry("A100", 100);
    }

    @Test
    void aBatchIsAnsweredAfterOneWrite() {
        enforce("A100", 3);
        Replica replica = active("r0");
        int writes = cluster.writes();
        List<QuotaTerm.Question> questions = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            questions.add(new QuotaTerm.Question(pod(1, Map.of("gpu", "a100")), false, new CompletableFuture<>()));
        }
        // When
        replica.term.answer(questions);
        // Then
        assertThat(questions.stream().filter(question -> question.answer().join() instanceof Answer.Admitted))
                .hasSize(3);
        assertThat(cluster.writes()).isEqualTo(writes + 1);
    }

    @Test
    void withoutTheApiServerNobodyIsAnsweredBeyondTheEscrow() {
        enforce("A100", 100);
        Replica replica = active("r0");
        cluster.away(true);
        // When
        assertThat(replica.ask(pod(1, Map.of("gpu", "a100")), false)).isInstanceOf(Answer.Unavailable.class);
        // Then
        cluster.away(false);
        for (int i = 0; i < 100; i++) {
            assertThat(replica.admits(1)).isTrue();
        }
        assertThat(replica.admits(1)).isFalse();
    }

    @Test
    void aSuccessorCountsTheWholeEscrowUntilEverythingAnsweredCouldBeSeen() {
        enforce("A100", 10);
        Replica old = active("r0");
        assertThat(old.admits(4)).isTrue();
        // When the old one is gone without a word and its pod is not there yet
        Replica next = active("r1");
        // Then
        assertThat(next.ask(pod(1, Map.of("gpu", "a100")), false))
                .isInstanceOfSatisfying(
                        Answer.Denied.class,
                        denied -> assertThat(denied.line()).contains("10 set aside after a change of replica"));
        pass(Duration.ofSeconds(60));
        next.term.tick();
        assertThat(next.admits(1)).isFalse();
        pass(Duration.ofSeconds(12));
        next.term.tick();
        assertThat(next.admits(10)).isTrue();
    }

    @Test
    void anOrderlyEndLeavesNoMoreEscrowThanIsUsed() {
        enforce("A100", 10);
        Replica old = active("r0");
        assertThat(old.admits(4)).isTrue();
        // When
        old.term.given();
        // Then
        assertThat(cluster.quota("q").status().escrow()).containsEntry("A100", 4);
        assertThat(active("r1").admits(6)).isTrue();
    }

    @Test
    void aReplicaThatWasLeftBehindFindsItsTokenReplaced() {
        enforce("A100", 10);
        Replica old = active("r0");
        Replica next = active("r1");
        // When
        assertThat(old.ask(pod(1, Map.of("gpu", "a100")), false)).isInstanceOf(Answer.Unavailable.class);
        // Then
        assertThat(old.term.decides()).isFalse();
        assertThat(next.term.decides()).isTrue();
        assertThat(old.term.notReady()).singleElement().asString().contains("quotas are decided by r1@");
    }

    @Test
    void aProofThatIsOldIsNone() {
        enforce("A100", 10);
        Replica replica = active("r0");
        assertThat(replica.admits(1)).isTrue();
        cluster.away(true);
        // When
        pass(Duration.ofSeconds(9));
        // Then
        assertThat(replica.ask(pod(1, Map.of("gpu", "a100")), false)).isInstanceOf(Answer.Unavailable.class);
        cluster.away(false);
        replica.term.tick();
        assertThat(replica.admits(1)).isTrue();
    }

    @Test
    void aReservationWithoutAPodIsGivenBackAfterAQuorumList() {
        enforce("A100", 2);
        Replica replica = active("r0");
        assertThat(replica.admits(2)).isTrue();
        pass(Duration.ofSeconds(69));
        replica.term.tick();
        assertThat(replica.admits(1)).isFalse();
        // When
        pass(Duration.ofSeconds(3));
        replica.term.tick();
        // Then
        assertThat(replica.admits(2)).isTrue();
    }

    @Test
    void aReservationWhosePodIsThereStays() {
        enforce("A100", 2);
        Replica replica = active("r0");
        PodAsk pod = pod(2, Map.of("gpu", "a100"));
        assertThat(replica.admits(pod)).isTrue();
        cluster.pod(pod);
        // When
        pass(Duration.ofSeconds(100));
        replica.term.tick();
        // Then
        assertThat(replica.admits(1)).isFalse();
        replica.book.podGone(pod.uid());
        assertThat(replica.admits(1)).isTrue();
    }

    @Test
    void askedTwiceForOnePodItReservesOnce() {
        enforce("A100", 2);
        Replica replica = active("r0");
        PodAsk pod = pod(2, Map.of("gpu", "a100"));
        assertThat(replica.admits(pod)).isTrue();
        assertThat(replica.admits(pod)).isTrue();
        replica.book.pod(pod);
        assertThat(replica.admits(1)).isFalse();
    }

    @Test
    void aDryRunWritesAndReservesNothing() {
        enforce("A100", 1);
        Replica replica = active("r0");
        int writes = cluster.writes();
        assertThat(replica.ask(pod(1, Map.of("gpu", "a100")), true)).isInstanceOf(Answer.Admitted.class);
        assertThat(replica.ask(pod(2, Map.of("gpu", "a100")), true)).isInstanceOf(Answer.Denied.class);
        assertThat(cluster.writes()).isEqualTo(writes);
        assertThat(replica.admits(1)).isTrue();
    }

    @Test
    void overlappingQuotasAllHaveToAdmitAndNoneKeepsWhatAnotherDenied() {
        cluster.put(quota("a", GpuQuota.Mode.ENFORCE, GpuQuota.Unpinned.DENY, new QuotaLimit("*", 10)));
        cluster.put(quota("b", GpuQuota.Mode.ENFORCE, GpuQuota.Unpinned.DENY, new QuotaLimit("A100", 1)));
        Replica replica = active("r0");
        // When
        assertThat(replica.ask(pod(2, Map.of("gpu", "a100")), false))
                .isInstanceOfSatisfying(
                        Answer.Denied.class,
                        denied -> assertThat(denied.line()).startsWith("GpuQuota b: limit 1 A100"));
        // Then
        assertThat(replica.admits(pod(10, Map.of("gpu", "h100")))).isTrue();
    }

    @Test
    void aPodOfSeveralModelsCountsOnEachUntilItIsBound() {
        cluster.put(quota(
                "q",
                GpuQuota.Mode.ENFORCE,
                GpuQuota.Unpinned.LARGEST,
                new QuotaLimit("A100", 2),
                new QuotaLimit("H100", 2)));
        Replica replica = active("r0");
        PodAsk any = pod(2, Map.of());
        assertThat(replica.admits(any)).isTrue();
        assertThat(replica.admits(1)).isFalse();
        assertThat(replica.admits(pod(1, Map.of("gpu", "h100")))).isFalse();
        // When
        replica.book.pod(new PodAsk(
                "ml",
                any.name(),
                "",
                any.uid(),
                true,
                false,
                new Placement(Map.of(), List.of(), "h"),
                any.containers()));
        // Then
        assertThat(replica.admits(2)).isTrue();
    }

    @Test
    void aPodWhoseModelNobodyKnowsIsAskedToNameOne() {
        enforce("A100", 10);
        Replica replica = active("r0");
        assertThat(replica.ask(pod(1, Map.of("gpu", "b200")), false))
                .isInstanceOfSatisfying(
                        Answer.Denied.class,
                        denied -> assertThat(denied.line())
                                .contains("no node that it selects is known yet")
                                .contains("name a model: nodeSelector nvidia.com/gpu.product="));
    }

    @Test
    void namespacesOfAnEnforcedQuotaAreLabelledAndOthersAreNot() {
        enforce("A100", 10);
        Replica replica = active("r0");
        replica.book.namespace("other", Map.of(QuotaTerm.LABEL, "enforce"));
        pass(Duration.ofSeconds(3));
        replica.term.tick();
        assertThat(cluster.labels()).isEqualTo(Map.of("ml", true, "other", false));
    }

    /** Replicas come, go without a word and come back from the dead; API calls fail; pods are late or never there. */
    @Property(tries = 300)
    void whateverHappensTheApiServerNeverHoldsMoreThanTheLimit(@ForAll long seed) {
        var random = new Random(seed);
        int limit = 1 + random.nextInt(100);
        enforce("A100", limit);
        List<Replica> replicas = new ArrayList<>(List.of(active("r0")));
        List<PodAsk> onTheirWay = new ArrayList<>();
        int admitted = 0;
        for (int step = 1; step <= 80; step++) {
            pass(Duration.ofMillis(random.nextInt(2_000)));
            replicas.getLast().term.tick();
            switch (random.nextInt(6)) {
                case 0 -> replicas.add(active("r" + step));
                case 1 -> cluster.away(random.nextInt(3) == 0);
                case 2 -> replicas.get(random.nextInt(replicas.size())).term.tick();
                default -> {
                    int gpus = 1 + random.nextInt(20);
                    PodAsk pod = pod(gpus, Map.of("gpu", "a100"));
                    // The API server still knows the address of a replica that another one followed.
                    Replica asked =
                            random.nextInt(3) == 0 ? replicas.get(random.nextInt(replicas.size())) : replicas.getLast();
                    if (asked.admits(pod)) {
                        admitted += gpus;
                        onTheirWay.add(pod);
                    }
                }
            }
            if (step % 20 == 0) {
                // A request lives for a minute: what is on its way is an object before that, whoever sees it.
                onTheirWay.forEach(cluster::pod);
                onTheirWay.forEach(pod ->
                        replicas.get(random.nextInt(replicas.size())).book.pod(pod));
                onTheirWay.clear();
            }
            assertThat(admitted).isLessThanOrEqualTo(limit);
        }
    }
}
