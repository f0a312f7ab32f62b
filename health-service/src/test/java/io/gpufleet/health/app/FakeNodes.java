package io.gpufleet.health.app;

import io.gpufleet.health.model.FoundNode;
import io.gpufleet.health.model.FoundNode.Condition;
import io.gpufleet.health.model.FoundNode.Facts;
import io.gpufleet.health.model.FoundNode.Taint;
import io.gpufleet.health.model.MarksNote;
import io.gpufleet.health.model.MarksPlan;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** One Node in memory; the watch may lag behind it, and calls answer what was put in for them first. */
final class FakeNodes implements NodeMarks {
    static final String NODE = "node-1";

    final List<String> calls = new CopyOnWriteArrayList<>();
    final ConcurrentLinkedQueue<Answer> answers = new ConcurrentLinkedQueue<>();
    private @Nullable FoundNode now;
    private @Nullable FoundNode watched;
    private int version = 1;

    FakeNodes() {
        change(new FoundNode(
                NODE, new Facts("uid-1", "", true, false, true), "1", List.of(), "", "", MarksNote.NONE, null));
        seen();
    }

    /** Somebody changed the Node; the watch does not know yet. */
    synchronized void change(FoundNode node) {
        version++;
        now = new FoundNode(
                node.name(),
                node.facts(),
                Integer.toString(version),
                node.taints(),
                node.label(),
                node.nextStep(),
                node.note(),
                node.condition());
    }

    /** Somebody changed the taints, and the watch has told. */
    synchronized void taints(Taint... taints) {
        FoundNode node = node();
        change(new FoundNode(
                node.name(),
                node.facts(),
                "",
                List.of(taints),
                node.label(),
                node.nextStep(),
                node.note(),
                node.condition()));
        seen();
    }

    /** The watch tells how the Node is now. */
    synchronized void seen() {
        watched = now;
    }

    synchronized FoundNode node() {
        return Optional.ofNullable(now).orElseThrow();
    }

    @Override
    public boolean watching() {
        return true;
    }

    @Override
    public synchronized Optional<FoundNode> cached(String node) {
        return Optional.ofNullable(watched);
    }

    @Override
    public synchronized Answer read(String node) {
        calls.add("read");
        return new Answer.Done(node());
    }

    @Override
    public synchronized Answer patchMarks(FoundNode found, MarksPlan.Write write) {
        calls.add("marks");
        Answer prepared = answers.poll();
        if (prepared != null) {
            return prepared;
        }
        FoundNode node = node();
        if (!found.resourceVersion().equals(node.resourceVersion())) {
            return new Answer.Changed();
        }
        change(new FoundNode(
                NODE,
                node.facts(),
                "",
                write.taints(),
                write.label(),
                write.nextStep(),
                write.note(),
                node.condition()));
        seen();
        return new Answer.Done(node());
    }

    @Override
    public synchronized Answer patchCondition(FoundNode found, Condition condition) {
        calls.add("condition");
        FoundNode node = node();
        change(new FoundNode(
                NODE, node.facts(), "", node.taints(), node.label(), node.nextStep(), node.note(), condition));
        seen();
        return new Answer.Done(node());
    }

    @Override
    public synchronized void tell(FoundNode node, boolean warning, String reason, String message) {
        calls.add("event " + reason);
    }

    @Override
    public void warmUp() {
        // nothing is cold here
    }
}
