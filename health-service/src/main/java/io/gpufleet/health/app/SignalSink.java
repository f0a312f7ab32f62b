package io.gpufleet.health.app;

import io.gpufleet.health.model.FoundNode;
import io.gpufleet.health.model.HealthSignal.Word;
import java.util.concurrent.CompletionStage;

/** Port: what enters the log from outside the bus. Each call completes when it is on the log. */
public interface SignalSink {
    /** The Node object has this UID. */
    CompletionStage<Void> nodeSeen(String node, FoundNode.Facts facts);

    /** The Node object is gone. */
    CompletionStage<Void> nodeGone(String node, String uid);

    /** Somebody took a mark of ours away. */
    CompletionStage<Void> markRemoved(String node, String mark, String by, long revision);

    /** What became of a patch. */
    CompletionStage<Void> patched(String node, Patched result);

    /** An operator spoke. */
    CompletionStage<Void> spoke(String node, String device, Word word, String user, String reason);

    /**
     * A patch.
     *
     * @param what {@code marks} or {@code condition}
     * @param error one line; empty when it succeeded
     */
    record Patched(String nodeUid, long revision, String what, boolean succeeded, String error) {}
}
