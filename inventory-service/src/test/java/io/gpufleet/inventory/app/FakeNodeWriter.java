package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.inventory.model.taint.NodeTaints;
import io.gpufleet.inventory.model.taint.TaintPlan;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** A Node on an API server that tracks the owner of each label. */
final class FakeNodeWriter implements NodeWriter {
    final Map<String, String> foreign = new HashMap<>();
    final Deque<String> failures = new ArrayDeque<>();
    final List<LabelSet> written = new ArrayList<>();
    String bootId = "boot-1";
    private Map<String, String> own = Map.of();
    private Map<String, String> annotations = Map.of();
    NodeTaints taints = NodeTaints.NONE;
    final List<KubernetesNodeEvent> events = new ArrayList<>();
    final List<String> patched = new ArrayList<>();
    final Deque<String> patchFailures = new ArrayDeque<>();

    synchronized NodeObject object() {
        var labels = new HashMap<>(own);
        labels.putAll(foreign);
        return new NodeObject(
                "n1", "uid-1", bootId, true, false, labels, new NodeObject.Owned(own.keySet(), annotations), taints);
    }

    @Override
    public synchronized ApplyResult apply(String node, String uid, LabelSet labels) {
        if (!failures.isEmpty()) {
            return new ApplyResult.Failed(failures.remove());
        }
        var conflicts = new TreeSet<>(labels.labels().keySet());
        conflicts.retainAll(foreign.keySet());
        if (!conflicts.isEmpty()) {
            return new ApplyResult.Conflict(conflicts);
        }
        written.add(labels);
        own = labels.labels();
        annotations = labels.annotations();
        return new ApplyResult.Applied(object());
    }

    @Override
    public synchronized void recordEvent(NodeObject node, KubernetesNodeEvent event) {
        events.add(event);
    }

    @Override
    public synchronized PatchResult patchTaints(NodeObject observed, TaintPlan plan) {
        if (!patchFailures.isEmpty()) {
            return new PatchResult.Failed(patchFailures.remove());
        }
        var present = new ArrayList<>(taints.present());
        present.removeAll(plan.removed());
        present.addAll(plan.added());
        taints = new NodeTaints(present, plan.applied(), true);
        patched.add("-" + plan.removed() + " +" + plan.added());
        return new PatchResult.Patched(object());
    }
}
