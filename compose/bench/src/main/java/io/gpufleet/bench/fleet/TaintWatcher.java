package io.gpufleet.bench.fleet;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Watches the taints of nodes, with the time of each change. */
public final class TaintWatcher implements AutoCloseable, ResourceEventHandler<Node> {
    private static final String KEY = "gpufleet.io/unhealthy";

    private record TaintObservation(boolean tainted, long nanos) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, TaintObservation> observations = new HashMap<>();
    private final SharedIndexInformer<Node> informer;

    /** Watches through the client, which the caller closes. */
    public TaintWatcher(KubernetesClient client) {
        this.informer = NodeNames.inform(client, this);
    }

    /** Waits until a node is tainted, or not; returns the time of the watch event, by the monotonic clock. */
    public long await(String node, boolean tainted, Duration timeout) throws InterruptedException {
        long left = timeout.toNanos();
        lock.lock();
        try {
            while (true) {
                TaintObservation now = observations.get(node);
                if (now != null && now.tainted() == tainted) {
                    return now.nanos();
                }
                if (left <= 0) {
                    throw new IllegalStateException("node " + node + (tainted ? " got no" : " kept its") + " taint for "
                            + timeout.toSeconds() + " s");
                }
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onAdd(Node node) {
        observe(node);
    }

    @Override
    public void onUpdate(Node old, Node node) {
        observe(node);
    }

    @Override
    public void onDelete(Node node, boolean finalStateUnknown) {
        lock.lock();
        try {
            observations.remove(node.getMetadata().getName());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        informer.close();
    }

    private void observe(Node node) {
        long nanos = System.nanoTime();
        boolean tainted = node.getSpec() != null
                && node.getSpec().getTaints().stream()
                        .anyMatch(taint -> taint.getKey().equals(KEY));
        lock.lock();
        try {
            TaintObservation before = observations.get(node.getMetadata().getName());
            if (before == null || before.tainted() != tainted) {
                observations.put(node.getMetadata().getName(), new TaintObservation(tainted, nanos));
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Milliseconds between two instants of the monotonic clock. */
    public static double millis(long fromNanos, long toNanos) {
        return (toNanos - fromNanos) / (double) TimeUnit.MILLISECONDS.toNanos(1);
    }
}
