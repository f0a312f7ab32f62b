package io.gpufleet.health.app;

import io.gpufleet.health.model.nodepatch.ObservedNode;
import java.util.concurrent.CompletionStage;

/** Port: appends observations of Kubernetes to the log. A call completes when the event is appended. */
public interface SignalSink {
    /** The Node object was observed. */
    CompletionStage<Void> nodeObserved(String node, ObservedNode.NodeFacts facts);

    /** The Node object was deleted. */
    CompletionStage<Void> nodeDeleted(String node, String uid);

    /** An applied field was removed manually. */
    CompletionStage<Void> overrideObserved(String node, String target, String by, long revision);

    /** A patch succeeded or was rejected. */
    CompletionStage<Void> nodePatched(String node, PatchOutcome outcome);

    /**
     * Outcome of a patch.
     *
     * @param target {@code node} or {@code condition}
     * @param error one line; empty when it succeeded
     */
    record PatchOutcome(String nodeUid, long revision, String target, boolean succeeded, String error) {}
}
