package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.label.LabelGroup;
import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.inventory.model.label.NodeLabels;
import io.gpufleet.inventory.model.taint.NodeTaint;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
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

    /**
     * Settings of the reconciler.
     *
     * @param groups enabled labels
     * @param taints taints of Nodes with GPUs
     * @param mode whether Nodes are written
     * @param initialBackoff wait after a failed write; doubles with each failure, up to 64 times this
     * @param conflictRetryInterval wait before a conflicting key is retried
     */
    public record ReconcilerSettings(
            Set<LabelGroup> groups,
            Set<NodeTaint> taints,
            LabelMode mode,
            Duration initialBackoff,
            Duration conflictRetryInterval) {
        Duration backoff(int failures) {
            return initialBackoff.multipliedBy(1L << Math.min(failures, 6));
        }
    }

    /** Runs the blocking writes, and the retries after their waits. */
    public record Scheduling(Executor workers, RetryTimer timer) {}

    /** Progress for one node; guarded by the reconciler, except while its write is in flight. */
    private static final class ReconcileState {
        private boolean inFlight;
        private boolean requeued;
        private int failures;
        private final Map<String, String> conflicts = new TreeMap<>();
    }

    private final Supplier<Fleet> fleet;
    private final NodeWriter writer;
    private final TaintReconciler taints;
    private final SignalSink signals;
    private final Scheduling scheduling;
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
            Scheduling scheduling,
            ReconcilerSettings settings,
            LabelDifferences differences) {
        this.fleet = fleet;
        this.writer = writer;
        this.taints = new TaintReconciler(writer, settings);
        this.signals = signals;
        this.scheduling = scheduling;
        this.settings = settings;
        this.differences = differences;
    }

    /** Stops for good: nothing is reconciled any more, and a write in flight is not waited for. */
    public synchronized void stop() {
        active = false;
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
        if (!active || !objects.containsKey(node)) {
            return;
        }
        ReconcileState state = states.computeIfAbsent(node, _ -> new ReconcileState());
        state.requeued = true;
        if (!state.inFlight) {
            state.inFlight = true;
            scheduling.workers().execute(() -> process(node, state));
        }
    }

    private void process(String node, ReconcileState state) {
        while (takeNext(state)) {
            try {
                reconcile(node, state);
            } catch (RuntimeException broken) {
                failed(node, state, String.valueOf(broken.getMessage()));
            }
        }
    }

    private synchronized boolean takeNext(ReconcileState state) {
        if (active && state.requeued) {
            state.requeued = false;
            return true;
        }
        state.inFlight = false;
        return false;
    }

    private void reconcile(String node, ReconcileState state) {
        NodeState view = fleet.get().nodeOrUnknown(node);
        Optional<NodeObject> observed = nodeObject(node);
        Optional<LabelSet> desired = observed.flatMap(object -> desired(view, object));
        if (observed.isEmpty() || desired.isEmpty()) {
            return;
        }
        NodeObject object = observed.get();
        if (settings.mode() == LabelMode.OBSERVE) {
            differences.compare(object, desired.get());
            return;
        }
        state.conflicts.entrySet().removeIf(key -> !key.getValue().equals(valueOn(object, key.getKey())));
        LabelSet claimed = desired.get().without(state.conflicts.keySet());
        if (object.hasExactly(claimed)) {
            state.failures = 0;
            reportConflicts(view, object, state);
            reconcileTaints(view, object, state);
            return;
        }
        switch (writer.apply(node, object.uid(), claimed)) {
            case NodeWriter.ApplyResult.Applied(NodeObject updated) -> applied(view, object, updated, state);
            case NodeWriter.ApplyResult.Conflict(Set<String> keys) -> conflicted(object, keys, state);
            case NodeWriter.ApplyResult.Failed(String reason) -> failed(node, state, reason);
            case NodeWriter.ApplyResult.NotLeading() -> retryAfter(settings.initialBackoff(), node, () -> {}, state);
        }
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
    private void reconcileTaints(NodeState view, NodeObject object, ReconcileState state) {
        if (NodeLabels.of(view, settings.groups()).isPresent()) {
            taints.reconcile(view, object, this::replace)
                    .ifPresent(wait -> retryAfter(wait, object.name(), () -> {}, state));
        }
    }

    private void applied(NodeState view, NodeObject before, NodeObject updated, ReconcileState state) {
        state.failures = 0;
        replace(updated);
        KubernetesNodeEvent.ofInstaller(before, updated).ifPresent(event -> writer.recordEvent(updated, event));
        LOG.atInfo()
                .addKeyValue("node", updated.name())
                .addKeyValue("conflicts", state.conflicts.keySet())
                .log("labels applied");
        signals.labelsApplied(
                updated.name(), updated.uid(), view.revision(), List.copyOf(state.conflicts.keySet()), "");
    }

    /** Reports the conflicts if the view has others. */
    private void reportConflicts(NodeState view, NodeObject object, ReconcileState state) {
        List<String> conflicts = List.copyOf(state.conflicts.keySet());
        if (!conflicts.equals(view.object().labelConflicts())) {
            signals.labelsApplied(object.name(), object.uid(), view.revision(), conflicts, "");
        }
    }

    private void conflicted(NodeObject object, Set<String> keys, ReconcileState state) {
        if (state.conflicts.keySet().containsAll(keys)) {
            failed(object.name(), state, "the API server reported a conflict but named no requested label");
            return;
        }
        keys.forEach(key -> state.conflicts.put(key, valueOn(object, key)));
        synchronized (this) {
            state.requeued = true;
        }
        retryAfter(settings.conflictRetryInterval(), object.name(), () -> keys.forEach(state.conflicts::remove), state);
    }

    private void failed(String node, ReconcileState state, String reason) {
        if (state.failures == 0) {
            LOG.atWarn().addKeyValue("node", node).addKeyValue("error", reason).log("labels not applied, retrying");
            NodeState view = fleet.get().nodeOrUnknown(node);
            signals.labelsApplied(
                    node, view.object().uid(), view.revision(), view.object().labelConflicts(), reason);
        }
        retryAfter(settings.backoff(state.failures++), node, () -> {}, state);
    }

    /** Runs the change after the wait, once no write of the node is in flight, and reconciles the node. */
    private void retryAfter(Duration wait, String node, Runnable change, ReconcileState state) {
        scheduling.timer().schedule(wait, () -> {
            synchronized (this) {
                if (state.inFlight) {
                    retryAfter(settings.initialBackoff(), node, change, state);
                } else {
                    change.run();
                    enqueue(node);
                }
            }
        });
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
