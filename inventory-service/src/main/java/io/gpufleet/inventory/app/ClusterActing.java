package io.gpufleet.inventory.app;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Watches the cluster and labels its Nodes while this replica is the active one. */
public final class ClusterActing implements Acting {
    /** A watch on Node objects; closing it ends it. */
    public interface Watch extends AutoCloseable {
        @Override
        void close();
    }

    private final LabelReconciler labels;
    private final Observations log;
    private final Function<List<NodeListener>, Watch> open;
    private @Nullable Watch watch;

    /** {@code open} begins a watch that tells the listeners, in their order. */
    public ClusterActing(LabelReconciler labels, Observations log, Function<List<NodeListener>, Watch> open) {
        this.labels = labels;
        this.log = log;
        this.open = open;
    }

    @Override
    public void begin() {
        labels.start();
        watch = open.apply(List.of(new NodeFacts(log), labels));
    }

    @Override
    public void changed(String node) {
        labels.wake(node);
    }

    @Override
    public void end() {
        if (watch != null) {
            watch.close();
            watch = null;
        }
        labels.stop();
    }
}
