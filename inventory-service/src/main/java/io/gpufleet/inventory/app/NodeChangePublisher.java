package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeSettings;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Publishes changes of Nodes; updates that change none of the published fields, as kubelets write them, are dropped. */
public final class NodeChangePublisher implements NodeListener {
    private record PublishedNode(
            String uid, String bootId, boolean ready, boolean unschedulable, boolean managed, NodeSettings settings) {
        static PublishedNode of(NodeObject node) {
            return new PublishedNode(
                    node.uid(),
                    node.bootId(),
                    node.ready(),
                    node.unschedulable(),
                    node.managed(),
                    NodeSettings.of(node.labels()));
        }
    }

    private final Supplier<Fleet> fleet;
    private final SignalSink signals;
    private final Map<String, PublishedNode> published = new ConcurrentHashMap<>();

    /** A publisher that has published nothing yet. */
    public NodeChangePublisher(Supplier<Fleet> fleet, SignalSink signals) {
        this.fleet = fleet;
        this.signals = signals;
    }

    @Override
    public void onChanged(NodeObject node) {
        PublishedNode now = PublishedNode.of(node);
        PublishedNode before = published.put(node.name(), now);
        if (!now.equals(before)) {
            deletedBefore(node, before).ifPresent(uid -> signals.nodeDeleted(node.name(), uid));
            signals.nodeObserved(node);
        }
    }

    /** UID of the object of that name that this one replaced while nobody watched, or in a gap of the watch. */
    private Optional<String> deletedBefore(NodeObject node, @Nullable PublishedNode before) {
        String uid = before != null
                ? before.uid()
                : fleet.get().nodeOrUnknown(node.name()).object().uid();
        return Optional.of(uid).filter(other -> !other.isEmpty() && !other.equals(node.uid()));
    }

    @Override
    public void onDeleted(String node, String uid) {
        published.remove(node);
        signals.nodeDeleted(node, uid);
    }
}
