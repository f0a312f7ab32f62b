package io.gpufleet.inventory.app;

import io.gpufleet.inventory.app.LabelReconciler.ReconcilerSettings;
import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.taint.TaintPlan;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
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
    private final Map<String, Integer> failures = new ConcurrentHashMap<>();

    TaintReconciler(NodeWriter writer, ReconcilerSettings settings) {
        this.writer = writer;
        this.settings = settings;
    }

    void remove(String node) {
        failures.remove(node);
    }

    /** Reconciles one node whose GPUs are known; {@code patched} gets the changed Node. The wait before a retry, if any. */
    Optional<Duration> reconcile(NodeState view, NodeObject object, Consumer<NodeObject> patched) {
        boolean gpus = view.lastAnnouncement()
                .map(Announcement::gpus)
                .filter(announced -> !announced.isEmpty())
                .isPresent();
        TaintPlan plan = object.taints().plan(gpus ? settings.taints() : Set.of());
        if (object.taints().satisfies(plan)) {
            failures.remove(object.name());
            return Optional.empty();
        }
        return switch (writer.patchTaints(object, plan)) {
            case NodeWriter.PatchResult.Patched(NodeObject updated) -> {
                failures.remove(updated.name());
                patched.accept(updated);
                LOG.atInfo()
                        .addKeyValue("node", updated.name())
                        .addKeyValue("added", plan.added())
                        .addKeyValue("removed", plan.removed())
                        .log("taints changed");
                yield Optional.empty();
            }
            case NodeWriter.PatchResult.Failed(String reason) -> Optional.of(failed(object.name(), reason));
            case NodeWriter.PatchResult.NotLeading() -> Optional.of(settings.initialBackoff());
        };
    }

    private Duration failed(String node, String reason) {
        int failed = failures.merge(node, 1, Integer::sum);
        if (failed == 1) {
            LOG.atWarn().addKeyValue("node", node).addKeyValue("error", reason).log("taints not changed, retrying");
        }
        return settings.backoff(failed - 1);
    }
}
