package io.gpufleet.inventory.app;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Watches and labels Nodes while this replica is active. */
public final class KubernetesActor implements Actor {
    /** A watch on Node objects. */
    public interface Watch extends AutoCloseable {
        @Override
        void close();
    }

    private final LabelReconciler labels;
    private final SignalSink signals;
    private final Function<List<NodeListener>, Watch> openWatch;
    private @Nullable Watch watch;

    /** An inactive actor; {@code openWatch} starts a watch that calls the listeners in their order. */
    public KubernetesActor(LabelReconciler labels, SignalSink signals, Function<List<NodeListener>, Watch> openWatch) {
        this.labels = labels;
        this.signals = signals;
        this.openWatch = openWatch;
    }

    @Override
    public void begin() {
        labels.start();
        watch = openWatch.apply(List.of(new NodeChangePublisher(signals), labels));
    }

    @Override
    public void changed(String node) {
        labels.enqueue(node);
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
