package io.gpufleet.inventory.app;

import io.gpufleet.inventory.app.LabelReconciler.ReconcilerSettings;
import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.taint.TaintPlan;
import io.gpufleet.runtime.workqueue.ReconcileResult;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Adds the configured taints to Nodes with GPUs, and removes those that it added where they are no longer desired. */
final class TaintReconciler {
    private static final Logger LOG = LoggerFactory.getLogger(TaintReconciler.class);

    private final NodeWriter writer;
    private final ReconcilerSettings settings;
    private final Set<String> failing = ConcurrentHashMap.newKeySet();

    TaintReconciler(NodeWriter writer, ReconcilerSettings settings) {
        this.writer = writer;
        this.settings = settings;
    }

    void remove(String node) {
        failing.remove(node);
    }

    /** Reconciles one node whose GPUs are known; {@code patched} gets the changed Node. */
    ReconcileResult reconcile(NodeState view, NodeObject object, Consumer<NodeObject> patched) {
        boolean gpus = view.lastAnnouncement()
                .map(Announcement::gpus)
                .filter(announced -> !announced.isEmpty())
                .isPresent();
        TaintPlan plan = object.taints().plan(gpus ? settings.taints() : Set.of());
        if (object.taints().satisfies(plan)) {
            failing.remove(object.name());
            return new ReconcileResult.Done();
        }
        return switch (writer.patchTaints(object, plan)) {
            case NodeWriter.PatchResult.Patched(NodeObject updated) -> {
                failing.remove(updated.name());
                patched.accept(updated);
                LOG.atInfo()
                        .addKeyValue("node", updated.name())
                        .addKeyValue("added", plan.added())
                        .addKeyValue("removed", plan.removed())
                        .log("taints changed");
                yield new ReconcileResult.Done();
            }
            case NodeWriter.PatchResult.Failed(String reason) -> failed(object.name(), reason);
            case NodeWriter.PatchResult.NotLeading() ->
                new ReconcileResult.RequeueAfter(settings.backoff().initial());
        };
    }

    private ReconcileResult failed(String node, String reason) {
        if (failing.add(node)) {
            LOG.atWarn().addKeyValue("node", node).addKeyValue("error", reason).log("taints not changed, retrying");
        }
        return ReconcileResult.RetryAfter.backoff();
    }
}
