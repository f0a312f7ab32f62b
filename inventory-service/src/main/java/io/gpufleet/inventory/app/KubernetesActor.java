package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Fleet;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Watches and labels Nodes while this replica leads; every write asks the lease of the term. */
public final class KubernetesActor {
    /** A watch on Node objects. */
    public interface Watch extends AutoCloseable {
        /** Completes when every Node object is known. */
        CompletionStage<Void> synced();

        /** Whether every Node object is known and none has that name. */
        boolean lacks(String node);

        @Override
        void close();
    }

    private record Term(LeasedNodeWriter writer, LabelReconciler labels, MissedNodeDeletions missing, Watch watch) {}

    private static final Duration END_WAIT = Duration.ofSeconds(1);

    private final Supplier<Fleet> fleet;
    private final NodeWriter writer;
    private final Function<NodeWriter, LabelReconciler> reconcilers;
    private final SignalSink signals;
    private final Function<List<NodeListener>, Watch> openWatch;
    private @Nullable Term term;

    /**
     * An inactive actor.
     *
     * @param reconcilers creates the reconciler of a term
     * @param openWatch starts a watch that calls the listeners in their order
     */
    public KubernetesActor(
            Supplier<Fleet> fleet,
            NodeWriter writer,
            Function<NodeWriter, LabelReconciler> reconcilers,
            SignalSink signals,
            Function<List<NodeListener>, Watch> openWatch) {
        this.fleet = fleet;
        this.writer = writer;
        this.reconcilers = reconcilers;
        this.signals = signals;
        this.openWatch = openWatch;
    }

    /** Starts a term; nothing is written while {@code lease} is false. */
    public void begin(BooleanSupplier lease) {
        var leased = new LeasedNodeWriter(writer, lease);
        LabelReconciler labels = reconcilers.apply(leased);
        Watch watch = openWatch.apply(List.of(new NodeChangePublisher(fleet, signals), labels));
        var missing = new MissedNodeDeletions(fleet, signals, watch::lacks);
        term = new Term(leased, labels, missing, watch);
        var ignored = watch.synced().thenRun(missing::checkAll);
    }

    /** The view of a node was committed and may differ from its Node object. */
    public void changed(String node) {
        if (term != null) {
            term.labels().enqueue(node);
            term.missing().check(node);
        }
    }

    /** Ends the term: no write is begun when this returns, and those in flight have ended or take longer than 1 s. */
    public void end() {
        if (term != null) {
            term.labels().stop();
            term.writer().end(END_WAIT);
            term.watch().close();
            term = null;
        }
    }
}
