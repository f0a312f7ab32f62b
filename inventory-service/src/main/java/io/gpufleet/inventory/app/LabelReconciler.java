package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.label.LabelGroup;
import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.inventory.model.label.NodeLabels;
import io.gpufleet.inventory.model.taint.NodeTaint;
import io.gpufleet.runtime.workqueue.Backoff;
import io.gpufleet.runtime.workqueue.ReconcileResult;
import io.gpufleet.runtime.workqueue.WorkQueue;
import io.gpufleet.runtime.workqueue.WorkScheduler;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reconciles the labels of each Node: compares the desired labels with the actual ones whenever either may have changed,
 * and applies the desired ones if they differ. At most one write is in flight per node. A key owned by another field
 * manager is left alone and reported; it is retried when its value changes and after an interval. Taints follow once the
 * labels are as desired. Each term of a leader has a reconciler of its own.
 */
public final class LabelReconciler implements NodeListener {
    private static final Logger LOG = LoggerFactory.getLogger(LabelReconciler.class);
    private static final int MAX_CONCURRENT_WRITES = 16;

    /**
     * Settings of the reconciler.
     *
     * @param groups enabled labels
     * @param taints taints of Nodes with GPUs
     * @param mode whether Nodes are written
     * @param backoff wait after a failed write; its first wait also where the lease is not held
     * @param conflictRetryInterval wait before a conflicting key is retried
     */
    public record ReconcilerSettings(
            Set<LabelGroup> groups,
            Set<NodeTaint> taints,
            LabelMode mode,
            Backoff backoff,
            Duration conflictRetryInterval) {}

    /** A key of another field manager: its value, and the monotonic time from which on it is tried again. */
    private record ConflictingKey(String value, long retryAt) {}

    /** Progress for one node; only its step has it. */
    private static final class ReconcileState {
        private boolean failing;
        private final Map<String, ConflictingKey> conflicts = new TreeMap<>();
    }

    private final Supplier<Fleet> fleet;
    private final NodeWriter writer;
    private final TaintReconciler taints;
    private final SignalSink signals;
    private final WorkScheduler scheduler;
    private final WorkQueue<String> queue;
    private final ReconcilerSettings settings;
    private final LabelDifferences differences;

    private final Map<String, NodeObject> objects = new HashMap<>();
    private final Map<String, ReconcileState> states = new HashMap<>();
    private boolean active = true;

    /**
     * A reconciler of every Node that is observed from now on.
     *
     * @param differences what would be written in mode observe
     */
    public LabelReconciler(
            Supplier<Fleet> fleet,
            NodeWriter writer,
            SignalSink signals,
            WorkScheduler scheduler,
            ReconcilerSettings settings,
            LabelDifferences differences) {
        this.fleet = fleet;
        this.writer = writer;
        this.taints = new TaintReconciler(writer, settings);
        this.signals = signals;
        this.scheduler = scheduler;
        this.settings = settings;
        this.differences = differences;
        this.queue = new WorkQueue<>(
                new WorkQueue.Settings("labels", MAX_CONCURRENT_WRITES, settings.backoff()), scheduler, this::process);
    }

    /** Stops for good: nothing is reconciled any more, and a write in flight is not waited for. */
    public synchronized void stop() {
        active = false;
        queue.stop();
        objects.clear();
        states.clear();
        differences.clear();
    }

    @Override
    public void onChanged(NodeObject node) {
        synchronized (this) {
            objects.put(node.name(), node);
        }
        enqueue(node.name());
    }

    @Override
    public synchronized void onDeleted(String node, String uid) {
        objects.remove(node);
        states.remove(node);
        taints.remove(node);
        differences.remove(node);
    }

    /** Reconciles a node soon. */
    public synchronized void enqueue(String node) {
        if (active && objects.containsKey(node)) {
            queue.add(node);
        }
    }

    private ReconcileResult process(String node) {
        Optional<ReconcileState> state = stateOf(node);
        if (state.isEmpty()) {
            return new ReconcileResult.Done();
        }
        try {
            return reconcile(node, state.get());
        } catch (RuntimeException broken) {
            return failed(node, state.get(), String.valueOf(broken.getMessage()));
        }
    }

    private ReconcileResult reconcile(String node, ReconcileState state) {
        NodeState view = fleet.get().nodeOrUnknown(node);
        Optional<NodeObject> observed = nodeObject(node);
        Optional<LabelSet> desired = observed.flatMap(object -> desired(view, object));
        if (observed.isEmpty() || desired.isEmpty()) {
            return new ReconcileResult.Done();
        }
        NodeObject object = observed.get();
        if (settings.mode() == LabelMode.OBSERVE) {
            differences.compare(object, desired.get());
            return new ReconcileResult.Done();
        }
        state.conflicts.entrySet().removeIf(key -> claimable(object, key.getKey(), key.getValue()));
        LabelSet claimed = desired.get().without(state.conflicts.keySet());
        if (object.hasExactly(claimed)) {
            state.failing = false;
            reportConflicts(view, object, state);
            ReconcileResult tainted = reconcileTaints(view, object);
            return tainted instanceof ReconcileResult.Done ? done(state) : tainted;
        }
        return switch (writer.apply(node, object.uid(), claimed)) {
            case NodeWriter.ApplyResult.Applied(NodeObject updated) -> applied(view, object, updated, state);
            case NodeWriter.ApplyResult.Conflict(Set<String> keys) -> conflicted(object, keys, state);
            case NodeWriter.ApplyResult.Failed(String reason) -> failed(node, state, reason);
            case NodeWriter.ApplyResult.NotLeading() ->
                new ReconcileResult.RequeueAfter(settings.backoff().initial());
        };
    }

    /** True when a key may be ours now: its value is another one, or it is tried again. */
    private boolean claimable(NodeObject object, String key, ConflictingKey conflict) {
        return !conflict.value().equals(valueOn(object, key)) || conflict.retryAt() - scheduler.nanos() <= 0;
    }

    /** Nothing is left to do until the next conflicting key is tried again. */
    private ReconcileResult done(ReconcileState state) {
        long now = scheduler.nanos();
        return state.conflicts.values().stream()
                .map(conflict -> conflict.retryAt() - now)
                .min(Long::compare)
                .<ReconcileResult>map(wait -> new ReconcileResult.RequeueAfter(Duration.ofNanos(Math.max(0, wait))))
                .orElseGet(ReconcileResult.Done::new);
    }

    /** Empty for a Node of another boot than the announced one: it may be another machine. */
    private Optional<LabelSet> desired(NodeState view, NodeObject object) {
        boolean thisBoot = view.lastAnnouncement()
                .map(Announcement::bootId)
                .filter(boot -> !boot.isEmpty() && boot.equals(object.bootId()))
                .isPresent();
        return thisBoot && object.managed()
                ? NodeLabels.of(view, settings.groups()).or(() -> withoutDriver(view, object))
                : Optional.empty();
    }

    /** Empty where the Node has labels of its GPUs: they stay until the driver responds. */
    private Optional<LabelSet> withoutDriver(NodeState view, NodeObject object) {
        return Set.of(NodeLabels.INSTALLER).containsAll(object.owned().labels())
                ? NodeLabels.withoutDriver(view, settings.groups())
                : Optional.empty();
    }

    /** Nothing is known about taints of a Node while its GPUs are unknown. */
    private ReconcileResult reconcileTaints(NodeState view, NodeObject object) {
        return NodeLabels.of(view, settings.groups()).isPresent()
                ? taints.reconcile(view, object, this::replace)
                : new ReconcileResult.Done();
    }

    private ReconcileResult applied(NodeState view, NodeObject before, NodeObject updated, ReconcileState state) {
        state.failing = false;
        replace(updated);
        KubernetesNodeEvent.ofInstaller(before, updated).ifPresent(event -> writer.recordEvent(updated, event));
        LOG.atInfo()
                .addKeyValue("node", updated.name())
                .addKeyValue("conflicts", state.conflicts.keySet())
                .log("labels applied");
        signals.labelsApplied(
                updated.name(), updated.uid(), view.revision(), List.copyOf(state.conflicts.keySet()), "");
        return done(state);
    }

    /** Reports the conflicts if the view has others. */
    private void reportConflicts(NodeState view, NodeObject object, ReconcileState state) {
        List<String> conflicts = List.copyOf(state.conflicts.keySet());
        if (!conflicts.equals(view.object().labelConflicts())) {
            signals.labelsApplied(object.name(), object.uid(), view.revision(), conflicts, "");
        }
    }

    private ReconcileResult conflicted(NodeObject object, Set<String> keys, ReconcileState state) {
        if (state.conflicts.keySet().containsAll(keys)) {
            return failed(object.name(), state, "the API server reported a conflict but named no requested label");
        }
        long retryAt = scheduler.nanos() + settings.conflictRetryInterval().toNanos();
        keys.forEach(key -> state.conflicts.put(key, new ConflictingKey(valueOn(object, key), retryAt)));
        // The others are written at once.
        return new ReconcileResult.RequeueAfter(Duration.ZERO);
    }

    private ReconcileResult failed(String node, ReconcileState state, String reason) {
        if (!state.failing) {
            state.failing = true;
            LOG.atWarn().addKeyValue("node", node).addKeyValue("error", reason).log("labels not applied, retrying");
            NodeState view = fleet.get().nodeOrUnknown(node);
            signals.labelsApplied(
                    node, view.object().uid(), view.revision(), view.object().labelConflicts(), reason);
        }
        return ReconcileResult.RetryAfter.backoff();
    }

    /** Empty for a Node that is gone. */
    private synchronized Optional<ReconcileState> stateOf(String node) {
        return objects.containsKey(node)
                ? Optional.of(states.computeIfAbsent(node, _ -> new ReconcileState()))
                : Optional.empty();
    }

    private synchronized void replace(NodeObject updated) {
        objects.computeIfPresent(updated.name(), (_, _) -> updated);
    }

    private synchronized Optional<NodeObject> nodeObject(String node) {
        return Optional.ofNullable(objects.get(node));
    }

    private static String valueOn(NodeObject object, String key) {
        return object.labels().getOrDefault(key, "");
    }
}
