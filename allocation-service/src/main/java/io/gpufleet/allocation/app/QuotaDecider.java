package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.AdmissionRequest;
import io.gpufleet.allocation.model.quota.LeadershipLease;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The single writer of quotas: one thread that takes observations and requests in the order of their arrival, in
 * batches.
 */
public final class QuotaDecider implements TermListener, AutoCloseable {
    private static final long TICK_MILLIS = 250;
    private static final int BATCH = 256;

    private final QuotaLeader leader;
    private final LongSupplier nanos;
    private final BlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
    private final List<QuotaEvent> observed = new ArrayList<>();
    private final List<QuotaLeader.PendingAdmission> waiting = new ArrayList<>();
    private final Thread worker;
    private volatile boolean open = true;

    /** Starts the thread, which runs until it is closed; {@code nanos} is a monotonic clock. */
    public QuotaDecider(QuotaLeader leader, LongSupplier nanos) {
        this.leader = leader;
        this.nanos = nanos;
        this.worker = Thread.ofVirtual().name("quota-decider").start(this::run);
    }

    /** Decides on a pod. Completes after the escrow that the answer needs is written. */
    public CompletionStage<AdmissionDecision> decide(GpuPod pod, boolean dryRun) {
        var answer = new CompletableFuture<AdmissionDecision>();
        var pending = new QuotaLeader.PendingAdmission(new AdmissionRequest(pod, dryRun), answer);
        commands.add(() -> waiting.add(pending));
        return answer;
    }

    /** Applies an observation of the cluster. */
    public void observe(QuotaEvent event) {
        commands.add(() -> observed.add(event));
    }

    /** Applies the GPU models of nodes: of all nodes at once after a restore. */
    public void modelsAnnounced(Map<String, List<GpuModel>> models) {
        commands.add(
                () -> models.forEach((node, known) -> observed.add(new QuotaEvent.GpuModelsAnnounced(node, known))));
    }

    @Override
    public void activated() {
        onWorker(leader::elected);
    }

    @Override
    public void deactivated() {
        onWorker(leader::suspend);
    }

    /** All quotas with their usage. */
    public CompletionStage<List<QuotaView>> views() {
        var views = new CompletableFuture<List<QuotaView>>();
        onWorker(() -> views.complete(leader.views()));
        return views;
    }

    /** True while this replica leads the quotas. */
    public boolean isLeader() {
        return leader.isLeader();
    }

    /** Why this replica, though elected, cannot decide; empty when it can or need not. */
    public List<String> readinessFailures() {
        return leader.readinessFailures();
    }

    private void onWorker(Runnable action) {
        commands.add(() -> {
            applyObserved();
            action.run();
        });
    }

    private void run() {
        long nextTick = nanos.getAsLong();
        while (open) {
            try {
                runCommands(commands.poll(TICK_MILLIS, TimeUnit.MILLISECONDS));
                applyObserved();
                if (!waiting.isEmpty()) {
                    var batch = List.copyOf(waiting);
                    waiting.clear();
                    leader.answer(batch);
                }
                if (nanos.getAsLong() - nextTick >= 0) {
                    leader.tick();
                    nextTick = nanos.getAsLong() + TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);
                }
            } catch (InterruptedException end) {
                open = false;
            }
        }
    }

    private void runCommands(@Nullable Runnable first) {
        Runnable next = first;
        while (next != null) {
            next.run();
            next = Math.max(waiting.size(), observed.size()) < BATCH ? commands.poll() : null;
        }
    }

    private void applyObserved() {
        leader.observe(List.copyOf(observed));
        observed.clear();
    }

    @Override
    public void close() {
        var done = new CompletableFuture<Void>();
        onWorker(() -> {
            leader.resign();
            done.complete(null);
        });
        done.completeOnTimeout(null, LeadershipLease.DURATION.toMillis(), TimeUnit.MILLISECONDS)
                .join();
        open = false;
        worker.interrupt();
    }
}
