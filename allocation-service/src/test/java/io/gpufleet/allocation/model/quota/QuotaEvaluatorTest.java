package io.gpufleet.allocation.model.quota;

import static io.gpufleet.allocation.model.quota.TestQuotas.A100;
import static io.gpufleet.allocation.model.quota.TestQuotas.H100;
import static io.gpufleet.allocation.model.quota.TestQuotas.apply;
import static io.gpufleet.allocation.model.quota.TestQuotas.bound;
import static io.gpufleet.allocation.model.quota.TestQuotas.enforced;
import static io.gpufleet.allocation.model.quota.TestQuotas.observed;
import static io.gpufleet.allocation.model.quota.TestQuotas.pod;
import static io.gpufleet.allocation.model.quota.TestQuotas.quota;
import static io.gpufleet.allocation.model.quota.TestQuotas.state;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.LabelSelector;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Decisions on batches of pods. */
class QuotaEvaluatorTest {
    private record Decisions(List<AdmissionDecision> decisions, List<CountedPod> reserved) {}

    /** Decides on one after the other, and reserves what is admitted. */
    private static Decisions decide(QuotaState state, GpuPod... pods) {
        var all = new Decisions(new ArrayList<>(), new ArrayList<>());
        for (GpuPod pod : pods) {
            var evaluation = QuotaEvaluator.evaluate(state, new AdmissionRequest(pod, false), 1);
            all.decisions().add(evaluation.decision());
            evaluation.reservation().ifPresent(reserved -> {
                apply(state, new QuotaEvent.PodReserved(reserved));
                all.reserved().add(reserved);
            });
        }
        return all;
    }

    private static QuotaState admitted(QuotaState state, GpuPod... pods) {
        assertThat(decide(state, pods).decisions()).allMatch(AdmissionDecision.Admitted.class::isInstance);
        return state;
    }

    private static String denial(QuotaState state, GpuPod pod) {
        return QuotaEvaluator.evaluate(state, new AdmissionRequest(pod, false), 1)
                                .decision()
                        instanceof AdmissionDecision.Denied(String message)
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
        Decisions decision = decide(
                state(enforced("q", new QuotaLimit("A100", 3))), pod(1, 2, A100), pod(2, 2, A100), pod(3, 1, A100));
        assertThat(decision.decisions())
                .extracting(one -> one instanceof AdmissionDecision.Admitted)
                .containsExactly(true, false, true);
        assertThat(decision.reserved()).hasSize(2);
        assertThat(decision.decisions().get(1))
                .isInstanceOfSatisfying(
                        AdmissionDecision.Denied.class,
                        denied -> assertThat(denied.message()).contains("used 2 (ml/pod-1 2)"));
    }

    @Test
    void samePodIsReservedOnce() {
        QuotaState state = state(enforced("q", new QuotaLimit("A100", 2)));
        assertThat(decide(state, pod(1, 2, A100), pod(1, 2, A100)).reserved()).hasSize(1);
        // When it was observed after it was admitted
        apply(state, observed(pod(1, 2, A100)));
        // Then
        assertThat(denial(state, pod(2, 1, A100))).contains("used 2");
        assertThat(decide(state, pod(1, 2, A100)).reserved()).isEmpty();
    }

    @Test
    void dryRunIsDecidedAndReservesNothing() {
        QuotaState state = state(enforced("q", new QuotaLimit("A100", 1)));
        var one = QuotaEvaluator.evaluate(state, new AdmissionRequest(pod(1, 1, A100), true), 1);
        var two = QuotaEvaluator.evaluate(state, new AdmissionRequest(pod(2, 2, A100), true), 1);
        assertThat(one.decision()).isInstanceOf(AdmissionDecision.Admitted.class);
        assertThat(one.reservation()).isEmpty();
        assertThat(two.decision()).isInstanceOf(AdmissionDecision.Denied.class);
    }

    @Test
    void holdersInOtherNamespacesAreNotNamed() {
        GpuQuota both = new GpuQuota(
                "q",
                "1",
                Set.of("ml", "other"),
                LabelSelector.NOTHING,
                List.of(new QuotaLimit("A100", 3)),
                GpuQuota.Mode.ENFORCE,
                GpuQuota.AmbiguousModel.DENY,
                QuotaStatus.NONE);
        QuotaState state = admitted(state(both), pod(1, 1, A100));
        GpuPod mine = pod(2, 3, A100);
        var theirs = new GpuPod("other", "p", "", "u", true, Instant.MAX, mine.constraints(), mine.containers());
        // Then
        assertThat(denial(state, theirs))
                .contains("used 1 (1 pod), requested 3")
                .doesNotContain("pod-1");
        assertThat(denial(state, mine)).contains("used 1 (ml/pod-1 1), requested 3");
    }

    @Test
    void limitIsFoundWhateverTheCaseOfItsModel() {
        QuotaState state = state(enforced("q", new QuotaLimit("a100", 1)));
        assertThat(denial(state, pod(1, 2, A100))).contains("limit 1 a100");
    }

    @Test
    void overlappingQuotasAllHaveToAdmitAndDenialReservesNothing() {
        QuotaState state = state(enforced("a", new QuotaLimit("*", 10)), enforced("b", new QuotaLimit("A100", 1)));
        assertThat(denial(state, pod(1, 2, A100))).startsWith("GpuQuota b: limit 1 A100");
        assertThat(decide(state, pod(1, 2, A100)).reserved()).isEmpty();
        assertThat(decide(state, pod(2, 10, H100)).decisions())
                .containsExactly(AdmissionDecision.Admitted.WITHOUT_WARNINGS);
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
        QuotaState observed = apply(state, observed(bound(pod(1, 2, Map.of()), "h")));
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
        Decisions decision = decide(state, pod(1, 2, A100));
        assertThat(decision.decisions().getFirst())
                .isInstanceOfSatisfying(
                        AdmissionDecision.Admitted.class,
                        admitted -> assertThat(admitted.warnings())
                                .singleElement()
                                .asString()
                                .contains("limit 1 A100"));
        assertThat(decision.reserved()).hasSize(1);
        assertThat(QuotaEvaluator.requiredEscrow(state, "ml")).isEmpty();
    }

    @Test
    void escrowIsRaisedAheadOfNeedByABlockUpToTheLimit() {
        GpuQuota quota = enforced("q", new QuotaLimit("A100", 100));
        QuotaState state = admitted(state(quota), pod(1, 3, A100));
        assertThat(QuotaEvaluator.requiredEscrow(state, "ml")).isEqualTo(Map.of(new LimitKey("q", "A100"), 3));
        assertThat(QuotaEvaluator.needsEscrow(state, quota)).isTrue();
        assertThat(QuotaEvaluator.raisedStatus(state, quota).escrow()).isEqualTo(Map.of("A100", 67));
        GpuQuota raised = quota.withStatus(QuotaStatus.NONE.withEscrow(Map.of("A100", 67)));
        assertThat(QuotaEvaluator.needsEscrow(state, raised)).isFalse();
        // When it is nearly used up
        admitted(state, pod(2, 50, A100));
        // Then
        assertThat(QuotaEvaluator.needsEscrow(state, raised)).isTrue();
        assertThat(QuotaEvaluator.raisedStatus(state, raised).escrow()).isEqualTo(Map.of("A100", 100));
    }

    @Test
    void namespaceWithoutQuotaAdmitsEverythingAndReservesNothing() {
        Decisions decision = decide(state(), pod(1, 1_000, A100));
        assertThat(decision.decisions()).containsExactly(AdmissionDecision.Admitted.WITHOUT_WARNINGS);
        assertThat(decision.reserved()).isEmpty();
    }

    @Test
    void modelThatNoNodeHasIsNamedInTheStatus() {
        GpuQuota quota = enforced("q", new QuotaLimit("A1OO", 1), new QuotaLimit("h100", 1), new QuotaLimit("*", 9));
        assertThat(QuotaEvaluator.countedStatus(state(quota), quota, false).unknownLimits())
                .containsExactly("A1OO");
    }

    @Test
    void countedStatusLowersIdleEscrowToWhatIsUsed() {
        GpuQuota quota =
                enforced("q", new QuotaLimit("A100", 100)).withStatus(QuotaStatus.NONE.withEscrow(Map.of("A100", 64)));
        QuotaState state = apply(state(quota), observed(pod(1, 3, A100)));
        assertThat(QuotaEvaluator.countedStatus(state, quota, false))
                .isEqualTo(quota.status().withUsed(Map.of("A100", GpuAmount.of(3))));
        assertThat(QuotaEvaluator.countedStatus(state, quota, true).escrow()).containsEntry("A100", 3);
    }
}
