package io.gpufleet.allocation.model.quota;

import static io.gpufleet.allocation.model.quota.TestQuotas.A100;
import static io.gpufleet.allocation.model.quota.TestQuotas.H100;
import static io.gpufleet.allocation.model.quota.TestQuotas.apply;
import static io.gpufleet.allocation.model.quota.TestQuotas.bound;
import static io.gpufleet.allocation.model.quota.TestQuotas.enforced;
import static io.gpufleet.allocation.model.quota.TestQuotas.pod;
import static io.gpufleet.allocation.model.quota.TestQuotas.quota;
import static io.gpufleet.allocation.model.quota.TestQuotas.state;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Decisions on batches of pods. */
class QuotaEvaluatorTest {
    private static BatchDecision decide(QuotaState state, GpuPod... pods) {
        return QuotaEvaluator.decide(
                state,
                Arrays.stream(pods).map(pod -> new AdmissionRequest(pod, false)).toList(),
                1);
    }

    private static QuotaState admitted(QuotaState state, GpuPod... pods) {
        BatchDecision decision = decide(state, pods);
        assertThat(decision.decisions()).allMatch(AdmissionDecision.Admitted.class::isInstance);
        return QuotaStateReducer.apply(state, decision.events());
    }

    private static String denial(QuotaState state, GpuPod pod) {
        return decide(state, pod).decisions().getFirst() instanceof AdmissionDecision.Denied(String message)
                ? message
                : "admitted";
    }

    @Test
    void podBeyondTheLimitIsDeniedWithUsageAndAdvice() {
        QuotaState state = admitted(state(enforced("q", new QuotaLimit("A100", 3))), pod(1, 2, A100));
        assertThat(denial(state, pod(2, 2, A100)))
                .isEqualTo("GpuQuota q: limit 3 A100, used 2 (ml/pod-1 2), requested 2: 1 would fit now; ask for 1,"
                        + " or have spec.limits of gpuquota/q raised");
    }

    @Test
    void everyLimitOfTheQuotaHasToFit() {
        QuotaState state =
                admitted(state(enforced("q", new QuotaLimit("A100", 3), new QuotaLimit("*", 4))), pod(1, 2, H100));
        assertThat(denial(state, pod(2, 3, A100))).contains("limit 4 GPUs of any model, used 2");
        assertThat(denial(state, pod(2, 2, A100))).isEqualTo("admitted");
    }

    @Test
    void earlierRequestsOfBatchCountForLaterOnes() {
        BatchDecision decision = decide(
                state(enforced("q", new QuotaLimit("A100", 3))), pod(1, 2, A100), pod(2, 2, A100), pod(3, 1, A100));
        assertThat(decision.decisions())
                .extracting(one -> one instanceof AdmissionDecision.Admitted)
                .containsExactly(true, false, true);
        assertThat(decision.events()).hasSize(2);
        assertThat(decision.decisions().get(1))
                .isInstanceOfSatisfying(
                        AdmissionDecision.Denied.class,
                        denied -> assertThat(denied.message()).contains("used 2 (ml/pod-1 2)"));
    }

    @Test
    void samePodIsReservedOnce() {
        QuotaState state = state(enforced("q", new QuotaLimit("A100", 2)));
        assertThat(decide(state, pod(1, 2, A100), pod(1, 2, A100)).events()).hasSize(1);
        // When it was observed after it was admitted
        QuotaState observed = apply(admitted(state, pod(1, 2, A100)), new QuotaEvent.PodObserved(pod(1, 2, A100)));
        // Then
        assertThat(denial(observed, pod(2, 1, A100))).contains("used 2");
    }

    @Test
    void dryRunIsDecidedAndReservesNothing() {
        QuotaState state = state(enforced("q", new QuotaLimit("A100", 1)));
        BatchDecision decision = QuotaEvaluator.decide(
                state,
                List.of(new AdmissionRequest(pod(1, 1, A100), true), new AdmissionRequest(pod(2, 2, A100), true)),
                1);
        assertThat(decision.decisions().get(0)).isInstanceOf(AdmissionDecision.Admitted.class);
        assertThat(decision.decisions().get(1)).isInstanceOf(AdmissionDecision.Denied.class);
        assertThat(decision.events()).isEmpty();
        assertThat(decision.requiredStatus()).containsEntry("q", QuotaStatus.NONE);
    }

    @Test
    void overlappingQuotasAllHaveToAdmitAndDenialReservesNothing() {
        QuotaState state = state(enforced("a", new QuotaLimit("*", 10)), enforced("b", new QuotaLimit("A100", 1)));
        assertThat(denial(state, pod(1, 2, A100))).startsWith("GpuQuota b: limit 1 A100");
        assertThat(decide(state, pod(1, 2, A100)).events()).isEmpty();
        assertThat(decide(state, pod(1, 2, A100), pod(2, 10, H100)).decisions().getLast())
                .isEqualTo(AdmissionDecision.Admitted.WITHOUT_WARNINGS);
    }

    @Test
    void podOfSeveralModelsCountsOnEachUntilItIsBound() {
        QuotaState state = admitted(
                state(quota(
                        "q",
                        GpuQuota.Mode.ENFORCE,
                        GpuQuota.AmbiguousModel.COUNT_EACH,
                        new QuotaLimit("A100", 2),
                        new QuotaLimit("H100", 2))),
                pod(1, 2, Map.of()));
        assertThat(denial(state, pod(2, 1, A100))).contains("used 2");
        assertThat(denial(state, pod(2, 1, H100))).contains("used 2");
        // When
        QuotaState observed = apply(state, new QuotaEvent.PodObserved(bound(pod(1, 2, Map.of()), "h")));
        // Then
        assertThat(denial(observed, pod(2, 2, A100))).isEqualTo("admitted");
    }

    @Test
    void podOfSeveralModelsIsDeniedWhereQuotaCountsByModel() {
        assertThat(denial(state(enforced("q", new QuotaLimit("A100", 9))), pod(1, 1, Map.of())))
                .contains("it could run on A100, H100: name a model: nodeSelector nvidia.com/gpu.product=");
        assertThat(denial(state(enforced("q", new QuotaLimit("*", 9))), pod(1, 1, Map.of())))
                .isEqualTo("admitted");
    }

    @Test
    void podOfUnknownModelIsDeniedWithRequestForModel() {
        assertThat(denial(state(enforced("q", new QuotaLimit("A100", 9))), pod(1, 1, Map.of("gpu", "b200"))))
                .contains("no node that it selects is known yet")
                .contains("name a model: nodeSelector nvidia.com/gpu.product=");
    }

    @Test
    void warningQuotaAdmitsWithWarningsAndNeedsNoEscrow() {
        QuotaState state =
                state(quota("q", GpuQuota.Mode.WARN, GpuQuota.AmbiguousModel.DENY, new QuotaLimit("A100", 1)));
        BatchDecision decision = decide(state, pod(1, 2, A100));
        assertThat(decision.decisions().getFirst())
                .isInstanceOfSatisfying(
                        AdmissionDecision.Admitted.class,
                        admitted -> assertThat(admitted.warnings())
                                .singleElement()
                                .asString()
                                .contains("limit 1 A100"));
        assertThat(decision.events()).hasSize(1);
        assertThat(decision.requiredStatus()).isEmpty();
    }

    @Test
    void escrowGrowsByBlocksOf64UpToTheLimit() {
        GpuQuota quota = enforced("q", new QuotaLimit("A100", 100));
        assertThat(requiredEscrow(quota, 3)).isEqualTo(Map.of("A100", 64));
        assertThat(requiredEscrow(quota, 70)).isEqualTo(Map.of("A100", 70));
        GpuQuota raised = quota.withStatus(QuotaStatus.NONE.withEscrow(Map.of("A100", 64)));
        assertThat(requiredEscrow(raised, 64)).isEqualTo(Map.of("A100", 64));
        assertThat(requiredEscrow(raised, 65)).isEqualTo(Map.of("A100", 100));
    }

    private static Map<String, Integer> requiredEscrow(GpuQuota quota, int gpus) {
        return decide(state(quota), pod(1, gpus, A100))
                .requiredStatus()
                .getOrDefault("q", QuotaStatus.NONE)
                .escrow();
    }

    @Test
    void namespaceWithoutQuotaAdmitsEverythingAndReservesNothing() {
        BatchDecision decision = decide(state(), pod(1, 1_000, A100));
        assertThat(decision.decisions()).containsExactly(AdmissionDecision.Admitted.WITHOUT_WARNINGS);
        assertThat(decision.events()).isEmpty();
    }

    @Test
    void decidingAgainGivesTheSameDecision() {
        QuotaState state = state(enforced("q", new QuotaLimit("A100", 3)));
        assertThat(decide(state, pod(1, 2, A100), pod(2, 2, A100)))
                .isEqualTo(decide(state, pod(1, 2, A100), pod(2, 2, A100)));
    }

    @Test
    void countedStatusLowersIdleEscrowToWhatIsUsed() {
        GpuQuota quota =
                enforced("q", new QuotaLimit("A100", 100)).withStatus(QuotaStatus.NONE.withEscrow(Map.of("A100", 64)));
        QuotaState state = apply(state(quota), new QuotaEvent.PodObserved(pod(1, 3, A100)));
        assertThat(QuotaEvaluator.countedStatus(state, quota, false))
                .isEqualTo(quota.status().withUsed(Map.of("A100", 3)));
        assertThat(QuotaEvaluator.countedStatus(state, quota, true).escrow()).containsEntry("A100", 3);
    }
}
