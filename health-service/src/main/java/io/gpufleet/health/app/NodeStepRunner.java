package io.gpufleet.health.app;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.runtime.workqueue.Backoff;
import io.gpufleet.runtime.workqueue.ReconcileResult;
import io.gpufleet.runtime.workqueue.WorkQueue;
import io.gpufleet.runtime.workqueue.WorkScheduler;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Runs steps about nodes beside the writer: each commit about a node and the time that its last step named cause one more
 * step. At most {@value #MAX_CONCURRENT} steps run at once, one for each node.
 */
public final class NodeStepRunner implements AutoCloseable {
    private static final int MAX_CONCURRENT = 8;
    private static final Duration AFTER_AN_ERROR = Duration.ofSeconds(30);
    private static final Duration BACKLOG = Duration.ofSeconds(1);

    private final CatchUpStatus backlog;
    private final Function<NodeState, Optional<Duration>> step;
    /** The newest committed state of each node that needs steps. */
    private final Map<String, NodeState> nodes = new ConcurrentHashMap<>();

    private final WorkQueue<String> queue;
    private volatile boolean active;

    /**
     * Runs nothing before {@link #begin}, and no step for a node before its backlog is read.
     *
     * @param name of the steps, for the log
     * @param step answers how long to wait for the next one, empty when the next commit asks for it
     */
    public NodeStepRunner(String name, CatchUpStatus backlog, Function<NodeState, Optional<Duration>> step) {
        this.backlog = backlog;
        this.step = step;
        var settings = new WorkQueue.Settings(name, MAX_CONCURRENT, new Backoff(AFTER_AN_ERROR, AFTER_AN_ERROR));
        this.queue = new WorkQueue<>(settings, WorkScheduler.virtualThreads(name), this::stepOnce);
    }

    /** A term of this replica begins, about no node. */
    public void begin() {
        nodes.clear();
        active = true;
    }

    /** A state was committed that needs a step. */
    public void request(NodeState state) {
        if (active) {
            String node = state.node().name();
            nodes.put(node, state);
            queue.add(node);
        }
    }

    /** The node needs no step any more. */
    public void forget(String node) {
        nodes.remove(node);
    }

    /** The term is over; calls ask for the lease, which is over too. */
    public void end() {
        active = false;
        nodes.clear();
    }

    private ReconcileResult stepOnce(String node) {
        NodeState state = nodes.get(node);
        if (!active || state == null) {
            return new ReconcileResult.Done();
        }
        Optional<Duration> next = backlog.isRead(node) ? step.apply(state) : Optional.of(BACKLOG);
        return next.<ReconcileResult>map(ReconcileResult.RequeueAfter::new).orElseGet(ReconcileResult.Done::new);
    }

    @Override
    public void close() {
        end();
        queue.close();
    }
}
