package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.AdmissionRequest;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.TestQuotas;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** Replicas that lead the quotas of one cluster, one after the other or at once. */
class TestQuotaReplicas {
    private static final Clock CLOCK = Clock.fixed(Instant.ofEpochMilli(1_000_000), ZoneOffset.UTC);

    final FakeQuotaClient cluster = new FakeQuotaClient();
    private long now;
    private int pods;

    /** A replica that observed the cluster. */
    final class Replica {
        final ActiveLease active = new ActiveLease();
        final QuotaLeader leader;
        boolean held = true;

        Replica(String name) {
            leader = new QuotaLeader(cluster, name, active, CLOCK, () -> now);
            leader.observe(TestQuotas.cluster());
        }

        Replica begin() {
            active.begin(() -> held);
            leader.elected();
            return this;
        }

        void end() {
            active.end();
            leader.suspend();
        }

        /** A term ends; the next one begins at once or never. */
        void renewTerm(Random random) {
            end();
            if (random.nextBoolean()) {
                begin();
            }
        }

        void observe(QuotaEvent... events) {
            leader.observe(List.of(events));
        }

        AdmissionDecision decide(GpuPod pod, boolean dryRun) {
            var answer = new CompletableFuture<AdmissionDecision>();
            leader.answer(List.of(new QuotaLeader.PendingAdmission(new AdmissionRequest(pod, dryRun), answer)));
            return answer.join();
        }

        boolean admits(int gpus) {
            return admits(a100Pod(gpus));
        }

        boolean admits(GpuPod pod) {
            return decide(pod, false) instanceof AdmissionDecision.Admitted;
        }
    }

    Replica active(String name) {
        return new Replica(name).begin();
    }

    GpuPod a100Pod(int gpus) {
        pods++;
        return TestQuotas.pod(pods, gpus, TestQuotas.A100);
    }

    void enforce(String model, int gpus) {
        cluster.put(TestQuotas.quota(
                "q", GpuQuota.Mode.ENFORCE, GpuQuota.AmbiguousModel.DENY, new QuotaLimit(model, gpus)));
    }

    void advance(Duration time) {
        now += time.toNanos();
    }
}
