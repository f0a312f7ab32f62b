package io.gpufleet.health.app;

import io.gpufleet.health.model.nodepatch.ObservedNode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records the events instead of appending them. */
final class RecordingSignalSink implements SignalSink {
    final List<String> removedBy = new CopyOnWriteArrayList<>();
    final List<String> recorded = new CopyOnWriteArrayList<>();

    @Override
    public CompletionStage<Void> nodeObserved(String node, ObservedNode.NodeFacts facts) {
        return add("nodeObserved " + facts.uid());
    }

    @Override
    public CompletionStage<Void> nodeDeleted(String node, String uid) {
        return add("nodeDeleted " + uid);
    }

    @Override
    public CompletionStage<Void> overrideObserved(String node, String target, String by, long revision) {
        removedBy.add(by);
        return add("override " + target);
    }

    @Override
    public CompletionStage<Void> nodePatched(String node, PatchOutcome outcome) {
        return add("nodePatched " + outcome.succeeded());
    }

    private CompletionStage<Void> add(String what) {
        recorded.add(what);
        return CompletableFuture.completedFuture(null);
    }
}
