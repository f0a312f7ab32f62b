package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ActiveLease;
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
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

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
        final Deque<Runnable> tasks = new ArrayDeque<>();
        boolean held = true;
        /** Whether calls to the API server are answered; those that are not wait. */
        boolean answered = true;

        /** Whether calls to the API server are answered for which no admission waits. */
        boolean backgroundAnswered = true;

        private final Deque<Runnable> calls = new ArrayDeque<>();
        final Deque<Runnable> backgroundCalls = new ArrayDeque<>();

        Replica(String name) {
            leader = new QuotaLeader(
                    cluster,
                    name,
                    active,
                    new QuotaExecutors(
                            tasks::add, call -> calls.add(beside(call)), call -> backgroundCalls.add(beside(call))),
                    CLOCK,
                    () -> now);
            cluster.besideTheDecider(false);
            TestQuotas.cluster().forEach(leader::observe);
        }

        /** A call that is made beside the thread that decides, where alone the API server answers one. */
        private Runnable beside(Runnable call) {
            return () -> {
                cluster.besideTheDecider(true);
                call.run();
                cluster.besideTheDecider(false);
            };
        }

        /** All inputs are complete. */
        Replica listed() {
            for (ClusterSyncPrecondition input : ClusterSyncPrecondition.values()) {
                leader.listed(input);
            }
            return settle();
        }

        /** Runs what waits, until nothing does. */
        Replica settle() {
            for (Runnable next = next(); next != null; next = next()) {
                next.run();
            }
            return this;
        }

        /** Answers one call to the API server. */
        void answerOnce() {
            calls.removeFirst().run();
            settle();
        }

        /** The API server answers one call, and the thread has not taken the answer yet. */
        void answerWithoutATurn() {
            calls.removeFirst().run();
        }

        private @Nullable Runnable next() {
            if (!tasks.isEmpty()) {
                return tasks.removeFirst();
            }
            if (answered && !calls.isEmpty()) {
                return calls.removeFirst();
            }
            return backgroundAnswered ? backgroundCalls.pollFirst() : null;
        }

        Replica begin() {
            active.begin(() -> held);
            leader.elected();
            return settle();
        }

        void end() {
            active.end();
            leader.suspend();
            settle();
        }

        /** Two turns of the thread: what the first one reads is used by the second. */
        void tick() {
            for (int i = 0; i < 2; i++) {
                leader.tick();
                settle();
            }
        }

        boolean resign() {
            var resigned = leader.resign().toCompletableFuture();
            settle();
            return resigned.isDone();
        }

        /** A term ends; the next one begins at once or never. */
        void renewTerm(Random random) {
            end();
            if (random.nextBoolean()) {
                begin();
            }
        }

        void observe(QuotaEvent... events) {
            List.of(events).forEach(leader::observe);
        }

        AdmissionDecision decide(GpuPod pod, boolean dryRun) {
            var answer = ask(pod, dryRun);
            settle();
            if (!answer.isDone()) {
                answered = true;
                now += Duration.ofSeconds(3).toNanos();
                tick();
            }
            return answer.join();
        }

        CompletableFuture<AdmissionDecision> ask(GpuPod pod, boolean dryRun) {
            return ask(pod, dryRun, now);
        }

        CompletableFuture<AdmissionDecision> ask(GpuPod pod, boolean dryRun, long sinceNanos) {
            var answer = new CompletableFuture<AdmissionDecision>();
            leader.decide(new QuotaLeader.PendingAdmission(new AdmissionRequest(pod, dryRun), sinceNanos, answer));
            leader.pump();
            return answer;
        }

        boolean admits(int gpus) {
            return admits(a100Pod(gpus));
        }

        boolean admits(GpuPod pod) {
            return decide(pod, false) instanceof AdmissionDecision.Admitted;
        }
    }

    Replica active(String name) {
        return new Replica(name).listed().begin();
    }

    /** The same pod in another namespace. */
    static GpuPod in(String namespace, GpuPod pod) {
        return new GpuPod(
                namespace,
                pod.name(),
                pod.generateName(),
                pod.uid(),
                pod.uidKnown(),
                pod.countsUntil(),
                pod.constraints(),
                pod.containers());
    }

    GpuPod a100Pod(int gpus) {
        pods++;
        return TestQuotas.pod(pods, gpus, TestQuotas.A100);
    }

    GpuPod fractionPod(String resource, int devices) {
        pods++;
        return TestQuotas.pod(pods, resource, devices, TestQuotas.A100);
    }

    void enforce(String model, int gpus) {
        cluster.put(TestQuotas.quota(
                "q", GpuQuota.Mode.ENFORCE, GpuQuota.AmbiguousModel.DENY, new QuotaLimit(model, gpus)));
    }

    QuotaEvent observation(GpuPod pod) {
        return new QuotaEvent.PodObserved(pod, now);
    }

    /** A monotonic time that has passed. */
    long before(Duration time) {
        return now - time.toNanos();
    }

    void advance(Duration time) {
        now += time.toNanos();
    }
}
