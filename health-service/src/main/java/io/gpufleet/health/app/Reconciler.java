package io.gpufleet.health.app;

import io.gpufleet.health.model.Verdict;
import io.gpufleet.runtime.workqueue.Backoff;
import io.gpufleet.runtime.workqueue.ReconcileResult;
import io.gpufleet.runtime.workqueue.WorkQueue;
import io.gpufleet.runtime.workqueue.WorkScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Patches Nodes to the state that the committed verdicts ask for. Level-triggered: a new verdict, a change of the Node,
 * the begin of a term and the interval all run the same step. At most {@value #MAX_CONCURRENT} nodes are reconciled
 * concurrently, each by one step at a time.
 */
public final class Reconciler implements NodeListener, AutoCloseable {
    private static final int MAX_CONCURRENT = 32;
    private static final WorkQueue.Settings QUEUE = new WorkQueue.Settings(
            "reconcile", MAX_CONCURRENT, new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30)));

    private final NodeReconciler step;
    private final SignalSink signals;
    private final Map<String, Verdict> verdicts = new ConcurrentHashMap<>();
    private final CurrentLease lease;
    private final VerdictToNodeLatency timings;
    private final CatchUpStatus backlog;
    private final WorkQueue<String> queue =
            new WorkQueue<>(QUEUE, WorkScheduler.virtualThreads(QUEUE.name()), this::reconcileOnce);
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("reconcile-timer").factory());
    private volatile boolean active;

    /** Does nothing before {@link #begin}, and nothing to a node before its backlog is read. */
    public Reconciler(
            NodeReconciler step,
            SignalSink signals,
            CurrentLease lease,
            VerdictToNodeLatency timings,
            CatchUpStatus backlog,
            Duration interval) {
        this.step = step;
        this.backlog = backlog;
        backlog.onRead(this::request);
        this.timings = timings;
        this.signals = new LeasedSignalSink(signals, lease);
        this.lease = lease;
        var _ = timer.scheduleWithFixedDelay(
                () -> verdicts.keySet().forEach(this::request),
                interval.toMillis(),
                interval.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    /** Keeps a committed verdict; reconciles the node at once when it changed. */
    public void verdictCommitted(Verdict verdict) {
        String node = verdict.node().name();
        if (!verdict.equals(verdicts.put(node, verdict))) {
            timings.committed(node, verdict.revision());
            request(node);
        }
    }

    /** Removes a node and what is kept for it, after a running step. */
    public void forget(String node) {
        verdicts.remove(node);
        timings.forget(node);
        queue.add(node);
    }

    /** A term of this replica begins: every node is reconciled to its committed verdict. */
    public void begin(BooleanSupplier held, List<Verdict> committed) {
        Set<String> known =
                committed.stream().map(verdict -> verdict.node().name()).collect(Collectors.toSet());
        Set.copyOf(verdicts.keySet()).stream()
                .filter(node -> !known.contains(node))
                .forEach(this::forget);
        committed.forEach(verdict -> verdicts.put(verdict.node().name(), verdict));
        lease.begin(held);
        active = true;
        var _ = Thread.ofVirtual().name("warm-up").start(step::warmUp);
        verdicts.keySet().forEach(this::request);
    }

    /** The term is over: no further call is begun. */
    public void end() {
        active = false;
        lease.end();
    }

    @Override
    public void nodeChanged(String node) {
        request(node);
    }

    @Override
    public void nodeDeleted(String node, String uid) {
        if (active && verdicts.containsKey(node)) {
            signals.nodeDeleted(node, uid);
        }
    }

    /** Outcome of the last reconcile of the node, one line for people; a standby has none. */
    public String outcome(String node) {
        if (!active) {
            return NodeOutcome.ON_STANDBY;
        }
        return backlog.isRead(node) ? step.outcome(node) : NodeOutcome.BACKLOG;
    }

    private void request(String node) {
        if (active && verdicts.containsKey(node) && backlog.isRead(node)) {
            queue.add(node);
        }
    }

    private ReconcileResult reconcileOnce(String node) {
        Verdict verdict = verdicts.get(node);
        if (verdict == null) {
            step.forget(node);
            return new ReconcileResult.Done();
        }
        return active && backlog.isRead(node) ? step.reconcile(verdict) : new ReconcileResult.Done();
    }

    /** True while a verdict is kept for the node. */
    boolean tracks(String node) {
        return verdicts.containsKey(node);
    }

    @Override
    public void close() {
        end();
        timer.shutdownNow();
        queue.close();
    }
}
