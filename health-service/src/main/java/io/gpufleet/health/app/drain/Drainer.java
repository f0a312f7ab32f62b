package io.gpufleet.health.app.drain;

import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.drain.DrainAdmission;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.DrainProgress.Phase;
import java.time.Duration;
import java.util.Collection;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drains the nodes for which a committed state asks that, beside the writer: each commit about such a node and the time that
 * its last step named cause one more step. At most {@value #MAX_CONCURRENT} steps run at once, one for each node.
 */
public final class Drainer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Drainer.class);
    private static final int MAX_CONCURRENT = 8;
    private static final Duration AFTER_AN_ERROR = Duration.ofSeconds(30);
    private static final Duration BACKLOG = Duration.ofSeconds(1);

    private final DrainStep step;
    private final DrainAdmission admission;
    private final CatchUpStatus backlog;
    private final Map<String, Drained> drained = new ConcurrentHashMap<>();
    private final Semaphore permits = new Semaphore(MAX_CONCURRENT);
    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("drain-timer").factory());
    private volatile boolean active;

    /** A node with a drain: its newest committed state, and whether a step runs or has to follow. */
    private static final class Drained {
        private volatile NodeState state;
        private final AtomicBoolean running = new AtomicBoolean();
        private final AtomicBoolean wanted = new AtomicBoolean();
        /** The next step that time asks for; only the running step sets it. */
        private @Nullable ScheduledFuture<?> next;

        Drained(NodeState state) {
            this.state = state;
        }
    }

    /** Does nothing before {@link #begin}, and nothing to a node before its backlog is read. */
    public Drainer(DrainStep step, DrainAdmission admission, CatchUpStatus backlog) {
        this.step = step;
        this.admission = admission;
        this.backlog = backlog;
    }

    /** A term of this replica begins with these committed states. */
    public void begin(Collection<NodeState> committed) {
        drained.clear();
        admission.clear();
        step.clear();
        active = true;
        committed.forEach(this::committed);
    }

    /** A state was committed. */
    public void committed(NodeState state) {
        String node = state.node().name();
        DrainProgress progress = state.acting().drain();
        admission.committed(node, progress);
        boolean concerned = !state.drainOrder().isNone() || progress.active() || progress.phase() == Phase.WAITING;
        if (!concerned) {
            drained.remove(node);
        } else if (active) {
            Drained entry = drained.computeIfAbsent(node, _ -> new Drained(state));
            entry.state = state;
            request(node, entry);
        }
    }

    /** The node was given up. */
    public void forget(String node) {
        drained.remove(node);
        admission.committed(node, DrainProgress.NONE);
    }

    /** The term is over; calls ask for the lease, which is over too. */
    public void end() {
        active = false;
        drained.clear();
    }

    private void request(String node, Drained entry) {
        entry.wanted.set(true);
        if (active && entry.running.compareAndSet(false, true)) {
            workers.execute(() -> run(node, entry));
        }
    }

    private void run(String node, Drained entry) {
        permits.acquireUninterruptibly();
        try {
            while (active && drained.get(node) == entry && entry.wanted.getAndSet(false)) {
                stepOnce(node, entry.state).ifPresent(after -> again(node, entry, after));
            }
        } finally {
            permits.release();
            entry.running.set(false);
        }
        if (entry.wanted.get() && drained.get(node) == entry) {
            request(node, entry);
        }
    }

    private Optional<Duration> stepOnce(String node, NodeState state) {
        try {
            return backlog.isRead(node) ? step.run(state) : Optional.of(BACKLOG);
        } catch (RuntimeException broken) {
            LOG.atError().setCause(broken).addKeyValue("node", node).log("node could not be drained");
            return Optional.of(AFTER_AN_ERROR);
        }
    }

    private void again(String node, Drained entry, Duration after) {
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
