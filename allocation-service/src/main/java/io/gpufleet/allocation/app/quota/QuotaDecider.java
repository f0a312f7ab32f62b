package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.TermListener;
import io.gpufleet.allocation.app.quota.ReviewTimings.Stage;
import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.AdmissionRequest;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The single writer of the quota counters: one thread that takes observations and requests in the order of their arrival
 * and makes no call to the outside. What throws fails alone, and is counted.
 */
public final class QuotaDecider implements TermListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(QuotaDecider.class);
    private static final long TICK_MILLIS = 250;
    private static final int BATCH = 256;
    /** At the end nothing is decided while the escrow is lowered; what is not by then is carried over. */
    private static final long RESIGNATION_MILLIS = 1_000;

    private final QuotaLeader leader;
    private final LongSupplier nanos;
    private final DeciderHealth health;
    private final BlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
    private final Thread worker;
    private volatile ReviewTimings timings = (_, _) -> {};
    private volatile boolean open = true;
    private boolean sound = true;

    /**
     * Starts the thread, which runs until it is closed; {@code leader} makes the leader, given an executor for this
     * thread, {@code nanos} is a monotonic clock.
     */
    public QuotaDecider(Function<Executor, QuotaLeader> leader, DeciderHealth health, LongSupplier nanos) {
        this.leader = leader.apply(commands::add);
        this.health = health;
        this.nanos = nanos;
        this.worker = Thread.ofPlatform().name("quota-decider").daemon().start(this::run);
    }

    /**
     * Decides on a pod whose review was received at a monotonic time; reserves nothing when nobody waits for it any more.
     * Completes after the escrow that the answer needs is written.
     */
    public CompletionStage<AdmissionDecision> decide(GpuPod pod, boolean dryRun, long receivedNanos) {
        var answer = new CompletableFuture<AdmissionDecision>();
        var pending = new QuotaLeader.PendingAdmission(new AdmissionRequest(pod, dryRun), receivedNanos, answer);
        long read = took(Stage.RECEIVED_TO_READ, receivedNanos);
        commands.add(() -> {
            long taken = took(Stage.READ_TO_TAKEN, read);
            try {
                leader.decide(pending);
            } catch (RuntimeException failed) {
                answer.completeExceptionally(failed);
                throw failed;
            }
            long compared = took(Stage.TAKEN_TO_COMPARED, taken);
            var _ = answer.whenComplete((_, _) -> took(Stage.COMPARED_TO_DECIDED, compared));
        });
        return answer;
    }

    /** Sends the times of reviews there from now on. */
    public void timings(ReviewTimings recorder) {
        timings = recorder;
    }

    private long took(Stage stage, long since) {
        long now = nanos.getAsLong();
        timings.took(stage, Duration.ofNanos(Math.max(0, now - since)));
        return now;
    }

    /** Applies an observation of the cluster. */
    public void observe(QuotaEvent event) {
        commands.add(() -> leader.observe(event));
    }

    /** Applies the observation of a pod, now. */
    public void podObserved(GpuPod pod) {
        long at = nanos.getAsLong();
        commands.add(() -> leader.observe(new QuotaEvent.PodObserved(pod, at)));
    }

    /** An input is complete: everything of it was observed before. */
    public void listed(ClusterSyncPrecondition input) {
        commands.add(() -> leader.listed(input));
    }

    /** Applies the GPUs of nodes: of all nodes at once after a restore. */
    public void gpusAnnounced(Map<String, AnnouncedGpus> gpus) {
        gpus.forEach((node, known) -> {
            observe(new QuotaEvent.GpusAnnounced(node, known));
            observe(new QuotaEvent.GpuResourcesKnown(known.resources()));
        });
    }

    @Override
    public void activated() {
        commands.add(leader::elected);
    }

    @Override
    public void deactivated() {
        commands.add(leader::suspend);
    }

    /** All quotas with their usage. */
    public CompletionStage<List<QuotaView>> views() {
        return ask(leader::views);
    }

    /** Warnings for the author of limits, by the devices that are known. */
    public CompletionStage<List<String>> warnings(List<QuotaLimit> limits) {
        return ask(() -> leader.warnings(limits));
    }

    /** Names of the quotas that cover each of some namespaces. */
    public CompletionStage<Map<String, List<String>>> covering(Set<String> namespaces) {
        return ask(() -> leader.covering(namespaces));
    }

    private <T> CompletionStage<T> ask(Supplier<T> question) {
        var answer = new CompletableFuture<T>();
        commands.add(() -> {
            try {
                answer.complete(question.get());
            } catch (RuntimeException failed) {
                answer.completeExceptionally(failed);
                throw failed;
            }
        });
        return answer;
    }

    /** True while this replica leads the quotas. */
    public boolean isLeader() {
        return leader.isLeader();
    }

    /** Why this replica, though elected, cannot decide; empty when it can or need not. */
    public List<String> readinessFailures() {
        return leader.readinessFailures();
    }

    private void run() {
        long nextTick = nanos.getAsLong();
        while (open) {
            try {
                runCommands(commands.poll(TICK_MILLIS, TimeUnit.MILLISECONDS));
                guard(leader::pump);
                if (nanos.getAsLong() - nextTick >= 0) {
                    guard(leader::tick);
                    nextTick = nanos.getAsLong() + TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);
                    health.turned(sound);
                    sound = true;
                }
            } catch (InterruptedException end) {
                open = false;
            }
        }
    }

    private void runCommands(@Nullable Runnable first) {
        int taken = 0;
        for (Runnable next = first; next != null; next = taken < BATCH ? commands.poll() : null) {
            guard(next);
            taken++;
        }
    }

    private void guard(Runnable command) {
        try {
            command.run();
        } catch (RuntimeException failed) {
            sound = false;
            health.failed(failed);
            LOG.atError().setCause(failed).log("quota decider failed");
        }
    }

    @Override
    public void close() {
        var done = new CompletableFuture<Void>();
        commands.add(() -> leader.resign().thenRun(() -> done.complete(null)));
        done.completeOnTimeout(null, RESIGNATION_MILLIS, TimeUnit.MILLISECONDS).join();
        open = false;
        worker.interrupt();
    }
}
