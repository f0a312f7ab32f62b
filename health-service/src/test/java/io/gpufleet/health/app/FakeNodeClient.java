package io.gpufleet.health.app;

import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.nodepatch.ObservedNode.NodeFacts;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** One Node in memory; its cache may lag behind, and prepared responses are answered first. */
final class FakeNodeClient implements NodeClient {
    static final String NODE = "node-1";

    final List<String> calls = new CopyOnWriteArrayList<>();
    final ConcurrentLinkedQueue<NodeResponse> responses = new ConcurrentLinkedQueue<>();
    private @Nullable ObservedNode current;
    private @Nullable ObservedNode cached;
    private int version = 1;

    FakeNodeClient() {
        change(new ObservedNode(
                NODE,
                new NodeFacts("uid-1", "", true, false, true),
                "1",
                List.of(),
                "",
                "",
                AppliedAnnotation.NONE,
                null));
        syncWatch();
    }

    /** Changes the Node; the cache does not have the change yet. */
    synchronized void change(ObservedNode node) {
        version++;
        current = new ObservedNode(
                node.name(),
                node.facts(),
                Integer.toString(version),
                node.taints(),
                node.label(),
                node.recommendedAction(),
                node.applied(),
                node.condition());
    }

    /** Changes the taints, in the cache, too. */
    synchronized void setTaints(Taint... taints) {
        ObservedNode node = node();
        change(new ObservedNode(
                node.name(),
                node.facts(),
                "",
                List.of(taints),
                node.label(),
                node.recommendedAction(),
                node.applied(),
                node.condition()));
        syncWatch();
    }

    /** Brings the cache up to date. */
    synchronized void syncWatch() {
        cached = current;
    }

    /** Deletes the Node, in the cache, too. */
    synchronized void delete() {
        current = null;
        cached = null;
    }

    synchronized ObservedNode node() {
        return Optional.ofNullable(current).orElseThrow();
    }

    @Override
    public boolean hasSynced() {
        return true;
    }

    @Override
    public synchronized Optional<ObservedNode> cached(String node) {
        return Optional.ofNullable(cached);
    }

    @Override
    public synchronized NodeResponse read(String node) {
        calls.add("read");
        return new NodeResponse.Succeeded(node());
    }

    @Override
    public synchronized NodeResponse patchNode(ObservedNode observed, NodePatchPlan.Patch patch) {
        calls.add("node");
        NodeResponse prepared = responses.poll();
        if (prepared != null) {
            return prepared;
        }
        ObservedNode node = node();
        if (!observed.resourceVersion().equals(node.resourceVersion())) {
            return new NodeResponse.Conflict();
        }
        change(new ObservedNode(
                NODE,
                node.facts(),
                "",
                patch.taints(),
                patch.label(),
                patch.recommendedAction(),
                patch.applied(),
                node.condition()));
        syncWatch();
        return new NodeResponse.Succeeded(node());
    }

    @Override
    public synchronized NodeResponse patchCondition(ObservedNode observed, Condition condition) {
        calls.add("condition");
        ObservedNode node = node();
        change(new ObservedNode(
                NODE,
                node.facts(),
                "",
                node.taints(),
                node.label(),
                node.recommendedAction(),
                node.applied(),
                condition));
        syncWatch();
        return new NodeResponse.Succeeded(node());
    }

    @Override
    public synchronized void recordEvent(ObservedNode node, boolean warning, String reason, String message) {
        calls.add("event " + reason);
    }

    @Override
    public void warmUp() {
        calls.add("warm-up");
    }
}
