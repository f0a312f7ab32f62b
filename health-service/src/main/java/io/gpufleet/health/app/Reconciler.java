package io.gpufleet.health.app;

import io.gpufleet.health.model.Verdict;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes Nodes wear what the committed verdicts ask for. Level-triggered: on a new verdict, on a change of the Node, on
 * activation and every interval the same step is made; who comes while it is made causes one more. At most {@value
 * #AT_ONCE} nodes at once, one step at a time for each.
 */
public final class Reconciler implements NodeWatcher, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Reconciler.class);
    private static final int AT_ONCE = 32;

    private final MarksStep step;
    private final SignalSink signals;
    private final Map<String, Verdict> verdicts = new ConcurrentHashMap<>();
    private final Map<String, Slot> slots = new ConcurrentHashMap<>();
    private final Semaphore permits = new Semaphore(AT_ONCE);
    private final ReentrantReadWriteLock acting = new ReentrantReadWriteLock();
    private final ExecutorService hands = Executors.newVirtualThreadPerTaskExecutor();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("reconcile-timer").factory());
    private volatile boolean active;

    /** Whether a step of one node runs, and whether another has to follow it. */
    private static final class Slot {
        private boolean running;
        private boolean again;
        private int failures;
    }

    /** Not active until {@link #activate}. */
    public Reconciler(MarksStep step, SignalSink signals, Duration interval) {
        this.step = step;
        this.signals = signals;
        var _ = timer.scheduleWithFixedDelay(
                () -> verdicts.keySet().forEach(this::request),
                interval.toMillis(),
                interval.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    /** A committed verdict; acts at once where it differs from the one before. */
    public void verdict(Verdict verdict) {
        if (!verdict.equals(verdicts.put(verdict.node(), verdict))) {
            request(verdict.node());
        }
    }

    /** The node is not known any more. */
    public void forget(String node) {
        verdicts.remove(node);
    }

    /** Nothing is known any more. */
    public void clear() {
        verdicts.clear();
    }

    /** From here on this replica acts; every node is looked at. */
    public void activate() {
        active = true;
        hands.execute(step::warmUp);
        verdicts.keySet().forEach(this::request);
    }

    /** Nothing acts any more when this returns. */
    public void deactivate() {
        active = false;
        acting.writeLock().lock();
        try {
            LOG.atDebug().log("nothing acts any more");
        } finally {
            acting.writeLock().unlock();
        }
    }

    @Override
    public void nodeChanged(String node) {
        request(node);
    }

    @Override
    public void nodeGone(String node, String uid) {
        if (active && verdicts.containsKey(node)) {
            signals.nodeGone(node, uid);
        }
    }

    /** What the last step on the node came to, one line for people. */
    public String outcome(String node) {
        return step.outcome(node);
    }

    private void request(String node) {
        if (!active || !verdicts.containsKey(node)) {
            return;
        }
        Slot slot = slots.computeIfAbsent(node, _ -> new Slot());
        synchronized (slot) {
            slot.again = true;
            if (slot.running) {
                return;
            }
            slot.running = true;
        }
        hands.execute(() -> run(node, slot));
    }

    private void run(String node, Slot slot) {
        permits.acquireUninterruptibly();
        try {
            while (begin(slot)) {
                later(node, slot, once(node, slot));
            }
        } finally {
            permits.release();
        }
    }

    private static boolean begin(Slot slot) {
        synchronized (slot) {
            slot.running = slot.again;
            slot.again = false;
            return slot.running;
        }
    }

    private MarksStep.Next once(String node, Slot slot) {
        acting.readLock().lock();
        try {
            Verdict verdict = verdicts.get(node);
            return active && verdict != null ? step.make(verdict, slot.failures) : new MarksStep.Next.Settled();
        } catch (RuntimeException broken) {
            LOG.atError().setCause(broken).addKeyValue("node", node).log("marks could not be reconciled");
            return new MarksStep.Next.Failed(Duration.ofSeconds(30));
        } finally {
            acting.readLock().unlock();
        }
    }

    private void later(String node, Slot slot, MarksStep.Next next) {
        Optional<Duration> delay = switch (next) {
            case MarksStep.Next.Settled() -> {
                slot.failures = 0;
                yield Optional.empty();
            }
            case MarksStep.Next.LookAgain(Duration after) -> Optional.of(after);
            case MarksStep.Next.Failed(Duration after) -> {
                slot.failures++;
                yield Optional.of(after);
            }
        };
        delay.filter(_ -> !timer.isShutdown()).ifPresent(after -> {
            var _ = timer.schedule(() -> request(node), after.toMillis(), TimeUnit.MILLISECONDS);
        });
    }

    @Override
    public void close() {
        deactivate();
        timer.shutdownNow();
        hands.shutdownNow();
    }
}
