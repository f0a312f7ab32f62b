package io.gpufleet.health.app;

import io.gpufleet.health.model.NodeState;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs steps about nodes beside the writer: each commit about a node and the time that its last step named cause one more
 * step. At most {@value #MAX_CONCURRENT} steps run at once, one for each node.
 */
public final class NodeStepRunner implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeStepRunner.class);
    private static final int MAX_CONCURRENT = 8;
    private static final Duration AFTER_AN_ERROR = Duration.ofSeconds(30);
    private static final Duration BACKLOG = Duration.ofSeconds(1);

    private final String name;
    private final CatchUpStatus backlog;
    private final Function<NodeState, Optional<Duration>> step;
    private final Map<String, Concerned> nodes = new ConcurrentHashMap<>();
    private final Semaphore permits = new Semaphore(MAX_CONCURRENT);
    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
    private final ScheduledExecutorService timer;
    private volatile boolean active;

    /** A node: its newest committed state, and whether a step runs or has to follow. */
    private static final class Concerned {
        private volatile NodeState state;
        private final AtomicBoolean running = new AtomicBoolean();
        private final AtomicBoolean wanted = new AtomicBoolean();
        /** The next step that time asks for; only the running step sets it. */
        private @Nullable ScheduledFuture<?> next;

        Concerned(NodeState state) {
            this.state = state;
        }
    }

    /**
     * Runs nothing before {@link #begin}, and no step for a node before its backlog is read.
     *
     * @param name of the steps, for the log
     * @param step answers how long to wait for the next one, empty when the next commit asks for it
     */
    public NodeStepRunner(String name, CatchUpStatus backlog, Function<NodeState, Optional<Duration>> step) {
        this.name = name;
        this.backlog = backlog;
        this.step = step;
        this.timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name(name + "-timer").factory());
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
            Concerned entry = nodes.computeIfAbsent(node, _ -> new Concerned(state));
            entry.state = state;
            request(node, entry);
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

    private void request(String node, Concerned entry) {
        entry.wanted.set(true);
        if (active && entry.running.compareAndSet(false, true)) {
            workers.execute(() -> run(node, entry));
        }
    }

    private void run(String node, Concerned entry) {
        permits.acquireUninterruptibly();
        try {
            while (active && nodes.get(node) == entry && entry.wanted.getAndSet(false)) {
                stepOnce(node, entry.state).ifPresent(after -> again(node, entry, after));
            }
        } finally {
            permits.release();
            entry.running.set(false);
        }
        if (entry.wanted.get() && nodes.get(node) == entry) {
            request(node, entry);
        }
    }

    private Optional<Duration> stepOnce(String node, NodeState state) {
        try {
            return backlog.isRead(node) ? step.apply(state) : Optional.of(BACKLOG);
        } catch (RuntimeException broken) {
            LOG.atError()
                    .setCause(broken)
                    .addKeyValue("node", node)
                    .addKeyValue("step", name)
                    .log("step failed");
            return Optional.of(AFTER_AN_ERROR);
        }
    }

    private void again(String node, Concerned entry, Duration after) {
        if (entry.next != null) {
            entry.next.cancel(false);
        }
        if (!timer.isShutdown()) {
            entry.next = timer.schedule(() -> request(node, entry), after.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void close() {
        end();
        timer.shutdownNow();
        workers.shutdownNow();
    }
}
