package io.gpufleet.health.app;

import io.gpufleet.health.model.nodepatch.ObservedNode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Appends observations only while the lease is held; fails otherwise. */
final class LeasedSignalSink implements SignalSink {
    private final SignalSink signals;
    private final CurrentLease lease;

    LeasedSignalSink(SignalSink signals, CurrentLease lease) {
        this.signals = signals;
        this.lease = lease;
    }

    @Override
    public CompletionStage<Void> nodeObserved(String node, ObservedNode.NodeFacts facts) {
        return whileHeld(() -> signals.nodeObserved(node, facts));
    }

    @Override
    public CompletionStage<Void> nodeDeleted(String node, String uid) {
        return whileHeld(() -> signals.nodeDeleted(node, uid));
    }

    @Override
    public CompletionStage<Void> overrideObserved(String node, String target, String by, long revision) {
        return whileHeld(() -> signals.overrideObserved(node, target, by, revision));
    }

    @Override
    public CompletionStage<Void> nodePatched(String node, PatchOutcome outcome) {
        return whileHeld(() -> signals.nodePatched(node, outcome));
    }

    private CompletionStage<Void> whileHeld(Supplier<CompletionStage<Void>> call) {
        return lease.call(
                call, () -> CompletableFuture.failedFuture(new IllegalStateException("the lease is not held")));
    }
}
