package io.gpufleet.bench.health;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpufleet.bench.fleet.NodeNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Every change of our taint on every Node, with its time. */
final class NodeChanges implements AutoCloseable, ResourceEventHandler<Node> {
    private static final String KEY = "gpufleet.io/unhealthy";

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, Boolean> tainted = new HashMap<>();
    private final List<Change> changes = new ArrayList<>();
    private long patches;
    private final SharedIndexInformer<Node> informer;

    /**
     * The taint of a Node came or went.
     *
     * @param atMillis when the watch told it, by the clock of this machine
     */
    record Change(String node, boolean tainted, long atMillis) {}

    /** Watches through the client, which the caller closes. */
    NodeChanges(KubernetesClient client) {
        this.informer = NodeNames.inform(client, this);
    }

    /** Waits until the taint of a Node is there. */
    void awaitTaint(String node, Duration timeout) throws InterruptedException {
        long left = timeout.toNanos();
        lock.lock();
        try {
            while (!isTainted(node)) {
                if (left <= 0) {
                    throw new IllegalStateException("node " + node + " got no taint for " + timeout.toSeconds() + " s");
                }
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isTainted(String node) {
        return tainted.getOrDefault(node, false);
    }

    /** Changes so far, in the order of the watch. */
    List<Change> changes() {
        lock.lock();
        try {
            return List.copyOf(changes);
        } finally {
            lock.unlock();
        }
    }

    /** Whether the Node has our taint. */
    boolean tainted(String node) {
        lock.lock();
        try {
            return isTainted(node);
        } finally {
            lock.unlock();
        }
    }

    /** Number of changes of any Node in any field. */
    long patches() {
        lock.lock();
        try {
            return patches;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onAdd(Node node) {
        observe(node, false);
    }

    @Override
    public void onUpdate(Node old, Node node) {
        observe(node, true);
    }

    @Override
    public void onDelete(Node node, boolean finalStateUnknown) {
        // One of somebody else in a real cluster; one of ours would lack its taint at the end.
    }

    private void observe(Node node, boolean patched) {
        long now = System.currentTimeMillis();
        String name = node.getMetadata().getName();
        boolean taint = node.getSpec() != null
                && node.getSpec().getTaints().stream()
                        .anyMatch(each -> each.getKey().equals(KEY));
        lock.lock();
        try {
            patches += patched ? 1 : 0;
            if (taint != isTainted(name)) {
                tainted.put(name, taint);
                changes.add(new Change(name, taint, now));
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        informer.close();
    }

    /** Seconds between two times of the clock of this machine. */
    static double seconds(long fromMillis, long toMillis) {
        return (toMillis - fromMillis) / (double) TimeUnit.SECONDS.toMillis(1);
    }
}
