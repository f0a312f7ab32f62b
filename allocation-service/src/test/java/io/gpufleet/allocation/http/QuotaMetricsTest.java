package io.gpufleet.allocation.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.app.quota.QuotaView;
import io.gpufleet.allocation.app.quota.QuotaView.LimitView;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaUsage;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.kit.lifecycle.BuildInfo;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class QuotaMetricsTest {
    private static QuotaView quota(String name, boolean leader) {
        var used = new QuotaUsage(GpuAmount.of(5, 2), GpuAmount.ZERO, List.of(), 0);
        return new QuotaView(name, "Enforce", leader, List.of(new LimitView(new QuotaLimit("A100", 8), used, 4)));
    }

    private static String scrape(CompletionStage<List<QuotaView>> views) {
        var metrics = new AllocationMetrics(new Ledger(_ -> {}), () -> true, () -> 0, BuildInfo.current());
        metrics.quotas(() -> views);
        return metrics.scrape();
    }

    @Test
    void limitsOfTheQuotasThatThisReplicaLeadsAreExported() {
        String limit = new QuotaLimit("A100", 8).id();

        String text = scrape(CompletableFuture.completedStage(List.of(quota("team-a", true), quota("team-b", false))));

        assertThat(text)
                .contains("gpufleet_quota_limit{limit=\"" + limit + "\",quota=\"team-a\"} 8.0\n")
                .contains("gpufleet_quota_used{limit=\"" + limit + "\",quota=\"team-a\"} 2.5\n")
                .contains("gpufleet_quota_escrow{limit=\"" + limit + "\",quota=\"team-a\"} 4.0\n")
                .doesNotContain("team-b");
    }

    @Test
    void deciderThatFailsLeavesTheOtherMetrics() {
        assertThat(scrape(CompletableFuture.failedStage(new IllegalStateException("closed"))))
                .contains("gpufleet_quota_leader 1.0\n")
                .doesNotContain("gpufleet_quota_used{");
    }

    @Test
    void failuresOfTheDeciderAreCountedAfterACollectionOfGarbage() {
        // Given
        var failures = new AtomicLong();
        var metrics = new AllocationMetrics(new Ledger(_ -> {}), () -> true, failures::get, BuildInfo.current());
        var garbage = new WeakReference<>(new Object());
        await().until(() -> {
            System.gc();
            return garbage.get() == null;
        });

        // When
        failures.set(1);

        // Then
        assertThat(metrics.scrape()).contains("gpufleet_quota_decider_failures_total 1.0\n");
    }
}
