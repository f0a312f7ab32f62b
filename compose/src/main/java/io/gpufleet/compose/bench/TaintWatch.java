package io.gpufleet.compose.bench;

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

/** Sees through the API, by a watch, which nodes are tainted, and since when. */
final class TaintWatch implements AutoCloseable, ResourceEventHandler<Node> {
    private static final String KEY = "gpufleet.io/unhealthy";

    private record Seen(boolean tainted, long nanos) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, Seen> seen = new HashMap<>();
    private final SharedIndexInformer<Node> informer;

    TaintWatch(KubernetesClient client) {
        this.informer = client.nodes().inform(this);
    }

    /** Waits for a node to be tainted, or not; the instant at which the watch said so, by the monotonic clock. */
    long await(String node, boolean tainted, Duration patience) throws InterruptedException {
        long left = patience.toNanos();
        lock.lock();
        try {
            while (true) {
                Seen now = seen.get(node);
                if (now != null && now.tainted() == tainted) {
                    return now.nanos();
                }
                if (left <= 0) {
                    throw new IllegalStateException("node " + node + (tainted ? " got no" : " kept its") + " taint for "
                            + patience.toSeconds() + " s");
                }
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onAdd(Node node) {
        see(node);
    }

    @Override
    public void onUpdate(Node old, Node node) {
        see(node);
    }

    @Override
    public void onDelete(Node node, boolean finalStateUnknown) {
        lock.lock();
        try {
            seen.remove(node.getMetadata().getName());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        informer.close();
    }

    private void see(Node node) {
        long nanos = System.nanoTime();
        boolean tainted = node.getSpec() != null
                && node.getSpec().getTaints().stream()
                        .anyMatch(taint -> taint.getKey().equals(KEY));
        lock.lock();
        try {
            Seen before = seen.get(node.getMetadata().getName());
            if (before == null || before.tainted() != tainted) {
                seen.put(node.getMetadata().getName(), new Seen(tainted, nanos));
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Milliseconds between two instants of the monotonic clock. */
    static double millis(long fromNanos, long toNanos) {
        return (toNanos - fromNanos) / (double) TimeUnit.MILLISECONDS.toNanos(1);
    }
}
