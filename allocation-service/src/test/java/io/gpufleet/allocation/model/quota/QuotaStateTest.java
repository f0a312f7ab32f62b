package io.gpufleet.allocation.model.quota;

import static io.gpufleet.allocation.model.quota.TestQuotas.A100;
import static io.gpufleet.allocation.model.quota.TestQuotas.H100;
import static io.gpufleet.allocation.model.quota.TestQuotas.apply;
import static io.gpufleet.allocation.model.quota.TestQuotas.bound;
import static io.gpufleet.allocation.model.quota.TestQuotas.enforced;
import static io.gpufleet.allocation.model.quota.TestQuotas.gpus;
import static io.gpufleet.allocation.model.quota.TestQuotas.pod;
import static io.gpufleet.allocation.model.quota.TestQuotas.request;
import static io.gpufleet.allocation.model.quota.TestQuotas.reserved;
import static io.gpufleet.allocation.model.quota.TestQuotas.state;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.LabelSelector;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import io.gpufleet.allocation.model.scheduling.SelectorRequirement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Events applied to the state of the quotas. */
class QuotaStateTest {
    private static final QuotaLimit LIMIT = new QuotaLimit("A100", 10);
    private static final GpuQuota QUOTA = enforced("q", LIMIT);

    private static int used(QuotaState state) {
        return state.gpus(QUOTA, LIMIT);
    }

    private static GpuPod terminal(GpuPod pod) {
        return new GpuPod(pod.namespace(), pod.name(), "", pod.uid(), true, true, pod.constraints(), pod.containers());
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
    void observedPodCountsAndTerminalPodDoesNot() {
        QuotaState running = apply(state(QUOTA), new QuotaEvent.PodObserved(pod(1, 3, A100)));
        assertThat(used(running)).isEqualTo(3);
        assertThat(used(apply(running, new QuotaEvent.PodObserved(terminal(pod(1, 3, A100))))))
                .isZero();
    }

    @Test
    void observedPodConsumesReservationOfItsUid() {
        QuotaState state = apply(state(QUOTA), reserved(pod(1, 2, A100), 2, 5));
        assertThat(used(state)).isEqualTo(2);
        // When
        QuotaState observed = apply(state, new QuotaEvent.PodObserved(pod(1, 2, A100)));
        // Then
        assertThat(observed.reservations()).isEmpty();
        assertThat(used(observed)).isEqualTo(2);
        assertThat(observed.pods().values()).singleElement().matches(CountedPod::admittedHere);
    }

    @Test
    void observedPodConsumesReservationOfRequestWithItsName() {
        QuotaState state = apply(state(QUOTA), reserved(request("request:1", "pod-1", "", 2), 2, 5));
        assertThat(apply(state, new QuotaEvent.PodObserved(pod(1, 2, A100))).reservations())
                .isEmpty();
        assertThat(apply(state, new QuotaEvent.PodObserved(pod(2, 2, A100))).reservations())
                .hasSize(1);
    }

    @Test
    void observedPodConsumesOldestReservationOfItsGenerateName() {
        QuotaState state = apply(
                state(QUOTA),
                reserved(request("request:1", "", "pod-", 1), 1, 5),
                reserved(request("request:2", "", "pod-", 4), 4, 6));
        // When
        QuotaState observed = apply(state, new QuotaEvent.PodObserved(pod(1, 1, A100)));
        // Then
        assertThat(observed.reservations()).containsOnlyKeys("request:2");
    }

    @Test
    void deletedPodStaysDeleted() {
        QuotaState state = apply(
                state(QUOTA),
                new QuotaEvent.PodObserved(pod(1, 3, A100)),
                new QuotaEvent.PodDeleted("uid-1"),
                new QuotaEvent.PodObserved(pod(1, 3, A100)));
        assertThat(used(state)).isZero();
        assertThat(state.pods()).isEmpty();
    }

    @Test
    void carryOverCountsEscrowOrPodsOfEarlierLeaderWhicheverIsMore() {
        QuotaState state = apply(state(QUOTA), new QuotaEvent.CarriedOver("q", Map.of("A100", 5)));
        assertThat(used(state)).isEqualTo(5);
        assertThat(state.carriedOver(QUOTA, LIMIT)).isEqualTo(5);
        // When pods are observed that this replica did not admit
        QuotaState some = apply(state, new QuotaEvent.PodObserved(pod(1, 3, A100)));
        QuotaState more = apply(some, new QuotaEvent.PodObserved(pod(2, 4, A100)));
        // Then
        assertThat(used(some)).isEqualTo(5);
        assertThat(some.carriedOver(QUOTA, LIMIT)).isEqualTo(2);
        assertThat(used(more)).isEqualTo(7);
        // And a pod that this replica admitted counts in addition
        assertThat(used(apply(state, reserved(pod(3, 2, A100), 2, 0)))).isEqualTo(7);
        assertThat(used(apply(more, new QuotaEvent.CarryOverCleared()))).isEqualTo(7);
        assertThat(used(apply(some, new QuotaEvent.CarryOverCleared()))).isEqualTo(3);
    }

    @Test
    void newTermKeepsPodsAndNoReservation() {
        QuotaState state = apply(
                state(QUOTA),
                reserved(pod(1, 2, A100), 2, 0),
                new QuotaEvent.PodObserved(pod(1, 2, A100)),
                reserved(pod(2, 3, A100), 3, 0),
                new QuotaEvent.CarriedOver("q", Map.of("A100", 9)));
        // When
        QuotaState next = apply(state, new QuotaEvent.TermStarted());
        // Then
        assertThat(used(next)).isEqualTo(2);
        assertThat(next.hasCarryOver()).isFalse();
        assertThat(next.pods().values()).noneMatch(CountedPod::admittedHere);
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
        QuotaState state = apply(state(QUOTA), new QuotaEvent.PodObserved(pod(1, 3, Map.of())));
        assertThat(used(state)).isEqualTo(3);
        assertThat(used(apply(state, new QuotaEvent.PodObserved(bound(pod(1, 3, Map.of()), "h")))))
                .isZero();
    }

    @Test
    void countedPodsFollowChangedModelsOfTheirNodes() {
        QuotaState state = apply(
                state(QUOTA),
                new QuotaEvent.PodObserved(bound(pod(1, 3, Map.of()), "h")),
                new QuotaEvent.GpuModelsAnnounced("h", List.of(new GpuModel("NVIDIA A100", "A100", 8))));
        QuotaState current = QuotaStateReducer.withCurrentModels(state);
        assertThat(used(current)).isEqualTo(3);
        assertThat(QuotaStateReducer.withCurrentModels(current)).isSameAs(current);
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
        QuotaState state = apply(state(byLabel), new QuotaEvent.PodObserved(pod(1, 3, A100)));
        assertThat(used(state)).isZero();
        // When
        QuotaState labelled = apply(state, new QuotaEvent.NamespaceObserved("ml", Map.of("team", "vision")));
        // Then
        assertThat(labelled.covering("ml")).containsExactly(byLabel);
        assertThat(used(labelled)).isEqualTo(3);
        assertThat(labelled.usage(byLabel, LIMIT).holders()).containsExactly(new QuotaUsage.PodUsage("ml/pod-1", 3));
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
            case 6 ->
                new QuotaEvent.GpuModelsAnnounced(
                        "a", List.of(new GpuModel("m", random.nextBoolean() ? "A100" : "H100", 8)));
            case 7, 8 ->
                new QuotaEvent.PodObserved(random.nextBoolean() ? pod : bound(pod, random.nextBoolean() ? "a" : "h"));
            case 9 -> new QuotaEvent.PodDeleted("uid-" + random.nextInt(8));
            case 10 ->
                reserved(
                        random.nextBoolean() ? pod : request("request:" + pod.uid(), "", "pod-", 2),
                        2,
                        random.nextInt(100));
            case 11 -> new QuotaEvent.ReservationsReleased(random.nextInt(100));
            case 12 -> new QuotaEvent.CarriedOver(name, Map.of("A100", random.nextInt(9)));
            default -> random.nextBoolean() ? new QuotaEvent.CarryOverCleared() : new QuotaEvent.TermStarted();
        };
    }

    @Test
    void batchOfEventsGivesSameStateAsEventsOneByOne() {
        for (long seed = 0; seed < 300; seed++) {
            var random = new Random(seed);
            List<QuotaEvent> events = new ArrayList<>(TestQuotas.cluster());
            for (int i = 0; i < 60; i++) {
                events.add(event(random));
            }
            QuotaState oneByOne = QuotaState.EMPTY;
            for (QuotaEvent event : events) {
                oneByOne = apply(oneByOne, event);
            }
            assertThat(QuotaStateReducer.apply(QuotaState.EMPTY, events))
                    .as("seed %d", seed)
                    .isEqualTo(oneByOne);
        }
    }

    @Test
    void totalsEqualTheSumOverThePods() {
        for (long seed = 0; seed < 300; seed++) {
            var random = new Random(seed);
            QuotaState state = state(QUOTA);
            for (int i = 0; i < 60; i++) {
                state = apply(state, event(random));
                for (GpuQuota quota : state.quotas().values()) {
                    for (QuotaLimit limit : quota.limits()) {
                        QuotaUsage usage = state.usage(quota, limit);
                        int sum = usage.holders().stream()
                                .mapToInt(QuotaUsage.PodUsage::gpus)
                                .sum();
                        assertThat(usage.gpus()).as("seed %d", seed).isEqualTo(sum + usage.carriedOver());
                    }
                }
            }
        }
    }

    @Test
    void podThatRequestsNoGpusDoesNotCount() {
        var none = new GpuPod("ml", "p", "", "u", true, false, SchedulingConstraints.NONE, gpus(0));
        assertThat(apply(state(QUOTA), new QuotaEvent.PodObserved(none)).pods()).isEmpty();
    }
}
