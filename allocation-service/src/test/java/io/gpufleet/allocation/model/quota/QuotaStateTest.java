package io.gpufleet.allocation.model.quota;

import static io.gpufleet.allocation.model.quota.TestQuotas.A100;
import static io.gpufleet.allocation.model.quota.TestQuotas.H100;
import static io.gpufleet.allocation.model.quota.TestQuotas.apply;
import static io.gpufleet.allocation.model.quota.TestQuotas.bound;
import static io.gpufleet.allocation.model.quota.TestQuotas.enforced;
import static io.gpufleet.allocation.model.quota.TestQuotas.gpus;
import static io.gpufleet.allocation.model.quota.TestQuotas.observed;
import static io.gpufleet.allocation.model.quota.TestQuotas.pod;
import static io.gpufleet.allocation.model.quota.TestQuotas.request;
import static io.gpufleet.allocation.model.quota.TestQuotas.reserved;
import static io.gpufleet.allocation.model.quota.TestQuotas.state;
import static io.gpufleet.allocation.model.quota.TestQuotas.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.scheduling.ContainerResources;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.LabelSelector;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import io.gpufleet.allocation.model.scheduling.SelectorRequirement;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Events applied to the state of the quotas. */
class QuotaStateTest {
    private static final QuotaLimit LIMIT = new QuotaLimit("A100", 10);
    private static final GpuQuota QUOTA = enforced("q", LIMIT);

    private static int used(QuotaState state) {
        return state.used(QUOTA, LIMIT).roundedUp();
    }

    @Test
    void olderVersionOfQuotaHasNoEffect() {
        var newer = new GpuQuota(
                "q",
                "7",
                Set.of("ml"),
                LabelSelector.NOTHING,
                List.of(LIMIT),
                QUOTA.mode(),
                QUOTA.ambiguousModel(),
                QuotaStatus.NONE.withLeader("r1@5", 5));
        QuotaState state = apply(state(newer), new QuotaEvent.QuotaObserved(QUOTA));
        assertThat(state.quotas().get("q")).isEqualTo(newer);
    }

    @Test
    void equalPartsOfPodsAreKeptOnce() {
        var state = TestQuotas.state(TestQuotas.enforced("q", new QuotaLimit("A100", 9)));
        for (int number = 0; number < 3; number++) {
            TestQuotas.apply(state, TestQuotas.observed(TestQuotas.pod(number, 1, new HashMap<>(TestQuotas.A100))));
        }
        List<CountedPod> pods = List.copyOf(state.pods());
        assertThat(pods).hasSize(3).allSatisfy(pod -> {
            assertThat(pod.demand()).isSameAs(pods.getFirst().demand());
            assertThat(pod.pod().containers()).isSameAs(pods.getFirst().pod().containers());
            assertThat(pod.pod().constraints().nodeSelector())
                    .isSameAs(pods.getFirst().pod().constraints().nodeSelector());
        });
    }

    @Test
    void observedPodCountsAndTerminalPodDoesNot() {
        QuotaState running = apply(state(QUOTA), observed(pod(1, 3, A100)));
        assertThat(used(running)).isEqualTo(3);
        assertThat(used(apply(running, observed(until(pod(1, 3, A100), Instant.MIN)))))
                .isZero();
    }

    @Test
    void observedPodConsumesReservationOfItsUid() {
        QuotaState state = apply(state(QUOTA), reserved(pod(1, 2, A100), 2, 5));
        assertThat(used(state)).isEqualTo(2);
        // When
        apply(state, observed(pod(1, 2, A100)));
        // Then
        assertThat(state.reservations()).isEmpty();
        assertThat(used(state)).isEqualTo(2);
        assertThat(state.pods()).singleElement().matches(CountedPod::admittedHere);
    }

    @Test
    void observedPodConsumesReservationOfRequestWithItsName() {
        QuotaState state = apply(state(QUOTA), reserved(request("request:1", "pod-1", "", 2), 2, 5));
        assertThat(apply(state, observed(pod(2, 2, A100))).reservations()).hasSize(1);
        assertThat(apply(state, observed(pod(1, 2, A100))).reservations()).isEmpty();
    }

    @Test
    void observedPodConsumesOldestReservationOfItsGenerateName() {
        QuotaState state = apply(
                state(QUOTA),
                reserved(request("request:1", "", "pod-", 1), 1, 5),
                reserved(request("request:2", "", "pod-", 4), 4, 6));
        GpuPod generated = pod(1, 1, A100);
        // When
        apply(
                state,
                observed(new GpuPod(
                        "ml",
                        "pod-1",
                        "pod-",
                        "uid-1",
                        true,
                        Instant.MAX,
                        generated.constraints(),
                        generated.containers())));
        // Then
        assertThat(state.reservations())
                .singleElement()
                .satisfies(left -> assertThat(left.pod().uid()).isEqualTo("request:2"));
    }

    @Test
    void podOnADeadNodeCountsUntilItsGracePeriodIsOver() {
        Instant end = Instant.parse("2026-11-23T00:01:00Z");
        QuotaState state = apply(state(QUOTA), observed(pod(1, 3, A100)), observed(until(pod(1, 3, A100), end)));
        assertThat(used(apply(state, new QuotaEvent.TimePassed(end.minusSeconds(1)))))
                .isEqualTo(3);
        // When
        apply(state, new QuotaEvent.TimePassed(end));
        // Then
        assertThat(used(state)).isZero();
    }

    @Test
    void listReplacesWhatIsKnown() {
        QuotaState state = apply(
                state(QUOTA),
                new QuotaEvent.PodObserved(pod(1, 1, A100), 5),
                new QuotaEvent.PodObserved(pod(2, 2, A100), 5));
        // When pod 1 was deleted while nobody watched, and pod 3 is observed while the list is read
        apply(
                state,
                new QuotaEvent.PodObserved(pod(2, 2, A100), 10),
                new QuotaEvent.PodObserved(pod(3, 4, A100), 12),
                new QuotaEvent.PodsListed(10));
        // Then
        assertThat(used(state)).isEqualTo(6);
    }

    @Test
    void secondRequestForTheSameNameTakesThePlaceOfTheFirst() {
        QuotaState state = apply(state(QUOTA), reserved(pod(1, 8, A100), 8, 5));
        var retried = new GpuPod(
                "ml", "pod-1", "", "another", true, Instant.MAX, pod(1, 8, A100).constraints(), gpus(8));
        // When the first was refused after us, and its owner tries again
        var evaluation = QuotaEvaluator.evaluate(state, new AdmissionRequest(retried, false), 6);
        // Then
        assertThat(evaluation.decision()).isInstanceOf(AdmissionDecision.Admitted.class);
        assertThat(QuotaEvaluator.evaluate(state, new AdmissionRequest(pod(2, 8, A100), false), 6)
                        .decision())
                .isInstanceOf(AdmissionDecision.Denied.class);
    }

    @Test
    void deletedPodStaysDeleted() {
        QuotaState state = apply(
                state(QUOTA), observed(pod(1, 3, A100)), new QuotaEvent.PodDeleted("uid-1"), observed(pod(1, 3, A100)));
        assertThat(used(state)).isZero();
        assertThat(state.pods()).isEmpty();
    }

    @Test
    void carryOverCountsEscrowOrPodsOfEarlierLeaderWhicheverIsMore() {
        QuotaState state = apply(state(QUOTA), new QuotaEvent.CarriedOver("q", Map.of("A100", 5)));
        assertThat(used(state)).isEqualTo(5);
        assertThat(state.carriedOver(QUOTA, LIMIT)).isEqualTo(GpuAmount.of(5));
        // And a pod that this replica admitted counts in addition
        apply(state, reserved(pod(3, 2, A100), 2, 0));
        assertThat(used(state)).isEqualTo(7);
        apply(state, new QuotaEvent.PodDeleted("uid-3"));
        // When pods are observed that this replica did not admit
        apply(state, observed(pod(1, 3, A100)));
        // Then
        assertThat(used(state)).isEqualTo(5);
        assertThat(state.carriedOver(QUOTA, LIMIT)).isEqualTo(GpuAmount.of(2));
        apply(state, observed(pod(2, 4, A100)));
        assertThat(used(state)).isEqualTo(7);
        apply(state, new QuotaEvent.PodDeleted("uid-2"), new QuotaEvent.CarryOverCleared());
        assertThat(used(state)).isEqualTo(3);
    }

    @Test
    void newTermKeepsPodsAndReservationsAsAdmittedEarlier() {
        QuotaState state = apply(
                state(QUOTA),
                reserved(pod(1, 2, A100), 2, 0),
                observed(pod(1, 2, A100)),
                reserved(pod(2, 3, A100), 3, 0),
                new QuotaEvent.CarriedOver("q", Map.of("A100", 9)));
        // When
        apply(state, new QuotaEvent.TermStarted());
        // Then
        assertThat(used(state)).isEqualTo(5);
        assertThat(state.hasCarryOver()).isFalse();
        assertThat(state.pods()).noneMatch(CountedPod::admittedHere);
        apply(state, observed(pod(2, 3, A100)));
        assertThat(state.reservations()).isEmpty();
        assertThat(state.pods()).noneMatch(CountedPod::admittedHere);
    }

    @Test
    void onlyReservationsBeforeTheTimeAreReleased() {
        QuotaState state = apply(state(QUOTA), reserved(pod(1, 1, A100), 1, 10), reserved(pod(2, 2, A100), 2, 20));
        assertThat(state.hasReservationBefore(10)).isFalse();
        assertThat(state.hasReservationBefore(11)).isTrue();
        assertThat(used(apply(state, new QuotaEvent.ReservationsReleased(11)))).isEqualTo(2);
    }

    @Test
    void boundPodCountsOnModelOfItsNodeOnly() {
        QuotaState state = apply(state(QUOTA), observed(pod(1, 3, Map.of())));
        assertThat(used(state)).isEqualTo(3);
        assertThat(used(apply(state, observed(bound(pod(1, 3, Map.of()), "h")))))
                .isZero();
    }

    @Test
    void countedPodsFollowChangedModelsOfTheirNodes() {
        QuotaState state = apply(
                state(QUOTA),
                observed(bound(pod(1, 3, Map.of()), "h")),
                observed(pod(2, 4, H100)),
                new QuotaEvent.GpusAnnounced("h", gpus(new GpuModel("NVIDIA A100", "A100", 8))));
        assertThat(used(state)).isEqualTo(7);
    }

    @Test
    void podCountsOnceItsResourceIsAnnounced() {
        GpuPod pod = new GpuPod(
                "ml",
                "renamed",
                "",
                "uid-renamed",
                true,
                Instant.MAX,
                new SchedulingConstraints(A100, List.of(), ""),
                List.of(new ContainerResources(
                        "main",
                        ContainerResources.ContainerType.APP,
                        Map.of(),
                        Map.of("example.com/a100-whole", "3", "example.com/rdma", "1"))));
        QuotaState state = apply(state(QUOTA), observed(pod));
        assertThat(used(state)).isZero();
        // When
        apply(state, new QuotaEvent.GpuResourcesKnown(Set.of("example.com/a100-whole")));
        // Then
        assertThat(used(state)).isEqualTo(3);
        assertThat(used(apply(state, new QuotaEvent.PodDeleted("uid-renamed")))).isZero();
    }

    @Test
    void selectorCoversNamespacesByTheirCurrentLabels() {
        var byLabel = new GpuQuota(
                "q",
                "1",
                Set.of(),
                new LabelSelector(
                        List.of(new SelectorRequirement("team", SelectorRequirement.Operator.IN, List.of("vision")))),
                List.of(LIMIT),
                QUOTA.mode(),
                QUOTA.ambiguousModel(),
                QuotaStatus.NONE);
        QuotaState state = apply(state(byLabel), observed(pod(1, 3, A100)));
        assertThat(used(state)).isZero();
        // When
        QuotaState labelled = apply(state, new QuotaEvent.NamespaceObserved("ml", Map.of("team", "vision")));
        // Then
        assertThat(labelled.covering("ml")).containsExactly(byLabel);
        assertThat(used(labelled)).isEqualTo(3);
        assertThat(labelled.usage(byLabel, LIMIT).holders())
                .containsExactly(new QuotaUsage.PodUsage("ml", "ml/pod-1", GpuAmount.of(3)));
    }

    private static QuotaEvent event(Random random) {
        String name = random.nextBoolean() ? "q" : "r";
        GpuPod pod = pod(random.nextInt(8), 1 + random.nextInt(4), random.nextBoolean() ? A100 : H100);
        return switch (random.nextInt(14)) {
            case 0 ->
                new QuotaEvent.QuotaObserved(enforced(
                        name, new QuotaLimit("A100", random.nextInt(9)), new QuotaLimit("*", random.nextInt(9))));
            case 1 -> new QuotaEvent.QuotaDeleted(name);
            case 2 -> new QuotaEvent.NamespaceObserved("ml", Map.of("x", "" + random.nextInt(2)));
            case 3 -> new QuotaEvent.NamespaceDeleted("ml");
            case 4 -> new QuotaEvent.NodeObserved(new NodeInfo("a", random.nextBoolean() ? A100 : H100, true));
            case 5 -> new QuotaEvent.NodeDeleted("h");
            case 6 -> new QuotaEvent.GpusAnnounced("a", announced(random));
            case 7, 8 -> observed(random.nextBoolean() ? pod : bound(pod, random.nextBoolean() ? "a" : "h"));
            case 9 -> new QuotaEvent.PodDeleted("uid-" + random.nextInt(8));
            case 10 -> reserved(random.nextBoolean() ? pod : request("request:" + pod.uid(), "", "pod-", 2), 2, 0);
            case 11 -> new QuotaEvent.ReservationsReleased(random.nextInt(2));
            case 12 -> new QuotaEvent.CarriedOver(name, Map.of("A100", random.nextInt(9)));
            default -> random.nextBoolean() ? new QuotaEvent.CarryOverCleared() : new QuotaEvent.TermStarted();
        };
    }

    /** Whole GPUs of a model, MIG devices of it, or GPUs that are shared. */
    private static AnnouncedGpus announced(Random random) {
        String model = random.nextBoolean() ? "A100" : "H100";
        int replicas = 1 + random.nextInt(3);
        List<AnnouncedGpus.Offer> offers = switch (random.nextInt(3)) {
            case 0 -> List.of();
            case 1 -> List.of(new AnnouncedGpus.Offer("nvidia.com/gpu", model, "", replicas));
            default -> List.of(new AnnouncedGpus.Offer("nvidia.com/gpu", model, "3g.20gb", replicas));
        };
        return new AnnouncedGpus(List.of(new GpuModel("m", model, 8)), new TreeSet<>(offers), Map.of());
    }

    /** Counted anew from the pods alone, as on the first day. */
    private static Map<LimitKey, GpuAmount> countedAnew(QuotaState state) {
        Map<LimitKey, GpuAmount> sums = new TreeMap<>();
        for (GpuQuota quota : state.quotas().values()) {
            for (QuotaLimit limit : quota.limits()) {
                GpuAmount sum = state.carriedOver(quota, limit);
                for (CountedPod pod : Stream.concat(state.pods().stream(), state.reservations().stream())
                        .toList()) {
                    if (state.covering(pod.pod().namespace()).contains(quota)) {
                        sum = sum.plus(pod.demand().on(limit));
                    }
                }
                sums.put(new LimitKey(quota.name(), limit.id()), sum);
            }
        }
        return sums;
    }

    @Test
    void countersEqualTheSumOverThePodsAfterAnyEvents() {
        for (long seed = 0; seed < 500; seed++) {
            var random = new Random(seed);
            QuotaState state = state(QUOTA);
            for (int i = 0; i < 80; i++) {
                apply(state, event(random));
                assertThat(state.totals()).as("seed %d step %d", seed, i).isEqualTo(countedAnew(state));
                for (CountedPod pod : state.pods()) {
                    assertThat(pod.demand())
                            .isEqualTo(state.demandFor(
                                    pod.pod().constraints(), pod.demand().byResource()));
                }
            }
        }
    }

    @Test
    void podThatRequestsNoGpusDoesNotCount() {
        var none = new GpuPod("ml", "p", "", "u", true, Instant.MAX, SchedulingConstraints.NONE, gpus(0));
        assertThat(apply(state(QUOTA), observed(none)).pods()).isEmpty();
    }
}
