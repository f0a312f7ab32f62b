package io.gpufleet.health.app;

import io.gpufleet.health.model.FoundNode;
import io.gpufleet.health.model.HealthSignal.Word;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers what would have gone to the log. */
final class HeardSignals implements SignalSink {
    final List<String> heard = new CopyOnWriteArrayList<>();

    @Override
    public CompletionStage<Void> nodeSeen(String node, FoundNode.Facts facts) {
        return note("seen " + facts.uid());
    }

    @Override
    public CompletionStage<Void> nodeGone(String node, String uid) {
        return note("gone " + uid);
    }

    @Override
    public CompletionStage<Void> markRemoved(String node, String mark, String by, long revision) {
        return note("removed " + mark);
    }

    @Override
    public CompletionStage<Void> patched(String node, Patched result) {
        return note("patched " + result.succeeded());
    }

    @Override
    public CompletionStage<Void> spoke(String node, String device, Word word, String user, String reason) {
        return note("spoke " + word);
    }

    private CompletionStage<Void> note(String what) {
        heard.add(what);
        return CompletableFuture.completedFuture(null);
    }
}
