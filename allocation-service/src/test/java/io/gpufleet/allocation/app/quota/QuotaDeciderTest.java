package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.TestQuotas;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The thread of the quota decider. */
class QuotaDeciderTest {
    @Test
    void failureOfOneCommandFailsNothingElse() throws Exception {
        var cluster = new FakeQuotaClient();
        cluster.put(
                TestQuotas.quota("q", GpuQuota.Mode.ENFORCE, GpuQuota.AmbiguousModel.DENY, new QuotaLimit("A100", 4)));
        var lease = new ActiveLease();
        lease.begin(() -> true);
        var health = new DeciderHealth(System::nanoTime);
        var decider = new QuotaDecider(
                thread -> new QuotaLeader(
                        cluster,
                        "r0",
                        lease,
                        new QuotaExecutors(thread, Runnable::run, Runnable::run),
                        Clock.systemUTC(),
                        System::nanoTime),
                health,
                System::nanoTime);
        Set<ReviewTimings.Stage> stages = Collections.synchronizedSet(EnumSet.noneOf(ReviewTimings.Stage.class));
        decider.timings((stage, _) -> stages.add(stage));
        try (decider) {
            TestQuotas.cluster().forEach(decider::observe);
            List.of(ClusterSyncPrecondition.values()).forEach(decider::listed);
            decider.activated();
            while (!decider.isLeader()) {
                decider.views().toCompletableFuture().get(30, TimeUnit.SECONDS);
            }
            // When a command throws
            decider.observe(new QuotaEvent.CarriedOver("q", new FailingMap()));
            // Then
            AdmissionDecision decision = decider.decide(TestQuotas.pod(1, 1, TestQuotas.A100), false, System.nanoTime())
                    .toCompletableFuture()
                    .get(30, TimeUnit.SECONDS);
            assertThat(decision).isInstanceOf(AdmissionDecision.Admitted.class);
            assertThat(health.failures()).isEqualTo(1);
            // And every stage of the review is measured, by the same thread as the next answer
            decider.views().toCompletableFuture().get(30, TimeUnit.SECONDS);
            assertThat(stages).containsExactlyInAnyOrder(ReviewTimings.Stage.values());
            // And whoever asks is answered
            assertThat(decider.warnings(Collections.singletonList(null)))
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(NullPointerException.class);
            // And counted, by the same thread as the next answer
            decider.views().toCompletableFuture().get(30, TimeUnit.SECONDS);
            assertThat(health.failures()).isEqualTo(2);
        }
    }

    /** A map that cannot be copied. */
    private static final class FailingMap extends java.util.AbstractMap<String, Integer> {
        @Override
        public Set<Map.Entry<String, Integer>> entrySet() {
            throw new IllegalStateException("broken");
        }
    }
}
