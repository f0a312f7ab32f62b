package io.gpufleet.health.app;

import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.nodepatch.ObservedNode.NodeFacts;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import io.gpufleet.health.model.nodepatch.PatchBase;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One Node in memory; its cache may lag behind, and prepared responses are answered first. */
class FakeNodeClient implements NodeClient {
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
                PatchBase.of("1"),
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
                new PatchBase(
                        Integer.toString(version),
                        node.applied().equals(AppliedAnnotation.NONE)
                                ? null
                                : node.applied().toString(),
                        true,
                        true,
                        true,
                        node.base().taintsManager(),
                        node.base().cordonManager()),
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
                node.base(),
                List.of(taints),
                node.label(),
                node.recommendedAction(),
                node.applied(),
                node.condition()));
        syncWatch();
    }

    /** A field manager changes the taints; the cache has it. */
    synchronized void setTaintsBy(String manager, Taint... taints) {
        ObservedNode node = node();
        change(new ObservedNode(
                node.name(),
                node.facts(),
                new PatchBase("", null, true, true, true, manager),
                List.of(taints),
                node.label(),
                node.recommendedAction(),
                node.applied(),
                node.condition()));
        syncWatch();
    }

    /** Somebody makes the Node unschedulable or schedulable; the cache has it. */
    synchronized void setUnschedulable(boolean unschedulable, String manager) {
        ObservedNode node = node();
        change(new ObservedNode(
                node.name(),
                facts(unschedulable),
                base(manager),
                node.taints(),
                node.label(),
                node.recommendedAction(),
                node.applied(),
                node.condition()));
        syncWatch();
    }

    private static NodeFacts facts(boolean unschedulable) {
        return new NodeFacts("uid-1", "", true, unschedulable, true);
    }

    private static PatchBase base(String cordonManager) {
        return new PatchBase("", null, true, true, true, "", cordonManager);
    }

    /** Another writer's taint, which the cache does not have yet. */
    synchronized void setForeignTaintUnseen(Taint taint) {
        ObservedNode node = node();
        change(new ObservedNode(
                node.name(),
                node.facts(),
                node.base(),
                List.of(taint),
                node.label(),
                node.recommendedAction(),
                node.applied(),
                node.condition()));
    }

    /** Another replica's annotation, which the cache does not have yet. */
    synchronized void applyUnseen(AppliedAnnotation applied) {
        ObservedNode node = node();
        change(new ObservedNode(
                node.name(),
                node.facts(),
                node.base(),
                node.taints(),
                node.label(),
                node.recommendedAction(),
                applied,
                node.condition()));
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

    /** What the tests of a patch compare. */
    private static boolean sameOwn(ObservedNode observed, ObservedNode node) {
        return observed.uid().equals(node.uid())
                && observed.applied().equals(node.applied())
                && observed.label().equals(node.label())
                && observed.recommendedAction().equals(node.recommendedAction())
                && observed.unhealthyTaint().equals(node.unhealthyTaint())
                && observed.facts().unschedulable() == node.facts().unschedulable();
    }

    @Override
    public synchronized NodeResponse patchNode(ObservedNode observed, NodePatchPlan.Patch patch) {
        calls.add("node");
        NodeResponse prepared = responses.poll();
        if (prepared != null) {
            return prepared;
        }
        ObservedNode node = node();
        if (!sameOwn(observed, node)) {
            return new NodeResponse.Mismatch("the server rejected our request due to an error in our request");
        }
        List<Taint> taints = Stream.concat(
                        node.taints().stream().filter(taint -> !taint.isUnhealthyTaint()),
                        patch.taints().stream().filter(Taint::isUnhealthyTaint))
                .toList();
        change(new ObservedNode(
                NODE,
                facts(patch.unschedulable()),
                patch.unschedulable() == node.facts().unschedulable()
                        ? node.base()
                        : base(patch.unschedulable() ? PatchBase.FIELD_MANAGER : ""),
                taints,
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
                node.base(),
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
