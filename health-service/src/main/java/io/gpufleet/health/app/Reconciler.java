package io.gpufleet.health.app;

import io.gpufleet.health.model.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Patches Nodes to the state that the committed verdicts ask for. Level-triggered: a new verdict, a change of the Node,
 * the begin of a term and the interval all run the same step; requests during a step cause one more. At most {@value
 * #MAX_CONCURRENT} nodes are reconciled concurrently, each by one step at a time.
 */
public final class Reconciler implements NodeListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Reconciler.class);
    private static final int MAX_CONCURRENT = 32;

    private final NodeReconciler step;
    private final SignalSink signals;
    private final Map<String, Verdict> verdicts = new ConcurrentHashMap<>();
    private final Map<String, WorkItem> workItems = new ConcurrentHashMap<>();
    private final Semaphore permits = new Semaphore(MAX_CONCURRENT);
    private final CurrentLease lease;
    private final VerdictToNodeLatency timings;
    private final CatchUpStatus backlog;
    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("reconcile-timer").factory());
    private volatile boolean active;

    /** Whether a step of one node runs, and whether another one has to follow; both change within the map only. */
    private static final class WorkItem {
        private boolean running;
        private boolean dirty;
        private int failures;
    }

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
        workItems.computeIfPresent(node, (_, item) -> keepOrForget(node, item));
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
        workers.execute(step::warmUp);
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
        if (!active || !verdicts.containsKey(node) || !backlog.isRead(node)) {
            return;
        }
        workItems.compute(node, (_, known) -> {
            WorkItem item = known == null ? new WorkItem() : known;
            item.dirty = true;
            if (!item.running) {
                item.running = true;
                workers.execute(() -> run(node, item));
            }
            return item;
        });
    }

    private void run(String node, WorkItem item) {
        permits.acquireUninterruptibly();
        try {
            while (beginRun(node, item)) {
                requeue(node, item, reconcileOnce(node, item));
            }
        } finally {
            permits.release();
        }
    }

    /** True when another step has to run. */
    private boolean beginRun(String node, WorkItem item) {
        var again = new AtomicBoolean();
        workItems.computeIfPresent(node, (_, _) -> {
            item.running = item.dirty;
            item.dirty = false;
            again.set(item.running);
            return keepOrForget(node, item);
        });
        return again.get();
    }

    /** The item; null, which removes it, when it is idle and its node is forgotten. */
    private @Nullable WorkItem keepOrForget(String node, WorkItem item) {
        if (item.running || verdicts.containsKey(node)) {
            return item;
        }
        step.forget(node);
        return null;
    }

    /** True while something is kept for the node. */
    boolean tracks(String node) {
        return verdicts.containsKey(node) || workItems.containsKey(node);
    }

    private NodeReconciler.ReconcileResult reconcileOnce(String node, WorkItem item) {
        try {
            Verdict verdict = verdicts.get(node);
            return active && verdict != null && backlog.isRead(node)
                    ? step.reconcile(verdict, item.failures)
                    : new NodeReconciler.ReconcileResult.Reconciled();
        } catch (RuntimeException broken) {
            LOG.atError().setCause(broken).addKeyValue("node", node).log("node could not be reconciled");
            return new NodeReconciler.ReconcileResult.RetryAfter(Duration.ofSeconds(30));
        }
    }

    private void requeue(String node, WorkItem item, NodeReconciler.ReconcileResult next) {
        Optional<Duration> delay = switch (next) {
            case NodeReconciler.ReconcileResult.Reconciled() -> {
                item.failures = 0;
                yield Optional.empty();
            }
            case NodeReconciler.ReconcileResult.RequeueAfter(Duration after) -> Optional.of(after);
            case NodeReconciler.ReconcileResult.RetryAfter(Duration after) -> {
                item.failures++;
                yield Optional.of(after);
            }
        };
        delay.filter(_ -> !timer.isShutdown()).ifPresent(after -> {
            var _ = timer.schedule(() -> request(node), after.toMillis(), TimeUnit.MILLISECONDS);
        });
    }

    @Override
    public void close() {
        end();
        timer.shutdownNow();
        workers.shutdownNow();
    }
}
