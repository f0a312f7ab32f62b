package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.LabelGroup;
import io.gpufleet.inventory.model.LabelSet;
import io.gpufleet.inventory.model.NodeImage;
import io.gpufleet.inventory.model.NodeLabels;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes each Node wear the labels that follow from its image: compares what is wanted with what stands there, whenever
 * either changed, and writes the difference. One write in flight for a node; a key that somebody else owns is left to
 * him, reported, and tried again when his value changes or after a while.
 */
public final class LabelReconciler implements NodeListener {
    private static final Logger LOG = LoggerFactory.getLogger(LabelReconciler.class);

    /**
     * How it goes about it.
     *
     * @param groups labels that are switched on
     * @param firstRetry wait after a failed write; doubles up to 64 times that
     * @param conflictRetry when a foreign key is tried again
     */
    public record Manner(Set<LabelGroup> groups, Duration firstRetry, Duration conflictRetry) {}

    /** What is going on for one node. */
    private static final class Desk {
        private boolean busy;
        private boolean again;
        private int failures;
        private final Map<String, String> foreign = new TreeMap<>();
    }

    private final Supplier<Fleet> fleet;
    private final LabelWriter writer;
    private final Observations log;
    private final Executor workers;
    private final ScheduledExecutorService timer;
    private final Manner manner;

    private final Map<String, NodeObject> objects = new HashMap<>();
    private final Map<String, Desk> desks = new HashMap<>();
    private boolean acting;
    private int running;

    /**
     * Rests until {@link #start}.
     *
     * @param workers where writes may block; bounds how many run at once
     */
    public LabelReconciler(
            Supplier<Fleet> fleet,
            LabelWriter writer,
            Observations log,
            Executor workers,
            ScheduledExecutorService timer,
            Manner manner) {
        this.fleet = fleet;
        this.writer = writer;
        this.log = log;
        this.workers = workers;
        this.timer = timer;
        this.manner = manner;
    }

    /** Begins to act; every Node that is seen from now on is looked at. */
    public synchronized void start() {
        acting = true;
    }

    /** Stops acting and forgets; returns when no write is in flight. */
    public synchronized void stop() {
        acting = false;
        boolean interrupted = false;
        while (running > 0) {
            try {
                wait();
            } catch (InterruptedException wokenUp) {
                interrupted = true;
            }
        }
        objects.clear();
        desks.clear();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void seen(NodeObject node) {
        synchronized (this) {
            objects.put(node.name(), node);
        }
        wake(node.name());
    }

    @Override
    public synchronized void gone(String node, String uid) {
        objects.remove(node);
        desks.remove(node);
    }

    /** The view of a node changed, or it is time to look again. */
    public synchronized void wake(String node) {
        if (!acting || !objects.containsKey(node)) {
            return;
        }
        Desk desk = desks.computeIfAbsent(node, _ -> new Desk());
        desk.again = true;
        if (!desk.busy) {
            desk.busy = true;
            running++;
            workers.execute(() -> work(node, desk));
        }
    }

    private void work(String node, Desk desk) {
        while (next(desk)) {
            try {
                reconcile(node, desk);
            } catch (RuntimeException broken) {
                failed(node, desk, String.valueOf(broken.getMessage()));
            }
        }
    }

    private synchronized boolean next(Desk desk) {
        if (acting && desk.again) {
            desk.again = false;
            return true;
        }
        desk.busy = false;
        running--;
        notifyAll();
        return false;
    }

    private void reconcile(String node, Desk desk) {
        NodeImage image = fleet.get().nodeOrUnknown(node);
        Optional<NodeObject> object = object(node);
        Optional<LabelSet> wanted = object.flatMap(found -> wanted(image, found));
        if (object.isEmpty() || wanted.isEmpty()) {
            return;
        }
        NodeObject found = object.get();
        desk.foreign.entrySet().removeIf(key -> !key.getValue().equals(valueOn(found, key.getKey())));
        LabelSet possible = wanted.get().without(desk.foreign.keySet());
        if (found.wears(possible)) {
            desk.failures = 0;
            report(image, found, desk);
            return;
        }
        switch (writer.apply(node, found.uid(), possible)) {
            case LabelWriter.Outcome.Applied(NodeObject now) -> applied(image, now, desk);
            case LabelWriter.Outcome.Owned(Set<String> keys) -> owned(found, keys, desk);
            case LabelWriter.Outcome.Failed(String reason) -> failed(node, desk, reason);
        }
    }

    /** Nothing is written to a Node of another boot than the announced one: it may be another machine by now. */
    private Optional<LabelSet> wanted(NodeImage image, NodeObject object) {
        boolean thisBoot = image.announced()
                .map(Announcement::bootId)
                .filter(boot -> !boot.isEmpty() && boot.equals(object.bootId()))
                .isPresent();
        return thisBoot && object.managed() ? NodeLabels.of(image, manner.groups()) : Optional.empty();
    }

    private void applied(NodeImage image, NodeObject now, Desk desk) {
        desk.failures = 0;
        synchronized (this) {
            objects.computeIfPresent(now.name(), (_, _) -> now);
        }
        LOG.atInfo()
                .addKeyValue("node", now.name())
                .addKeyValue("conflicts", desk.foreign.keySet())
                .log("labels written");
        log.labelled(now.name(), now.uid(), image.revision(), List.copyOf(desk.foreign.keySet()), "");
    }

    /** The conflicts stand in the view; where it says otherwise, it is told. */
    private void report(NodeImage image, NodeObject found, Desk desk) {
        List<String> conflicts = List.copyOf(desk.foreign.keySet());
        if (!conflicts.equals(image.labelConflicts())) {
            log.labelled(found.name(), found.uid(), image.revision(), conflicts, "");
        }
    }

    private void owned(NodeObject found, Set<String> keys, Desk desk) {
        if (desk.foreign.keySet().containsAll(keys)) {
            failed(found.name(), desk, "refused as a conflict about no key that was asked for");
            return;
        }
        keys.forEach(key -> desk.foreign.put(key, valueOn(found, key)));
        synchronized (this) {
            desk.again = true;
        }
        later(manner.conflictRetry(), found.name(), () -> keys.forEach(desk.foreign::remove), desk);
    }

    private void failed(String node, Desk desk, String reason) {
        if (desk.failures == 0) {
            LOG.atWarn()
                    .addKeyValue("node", node)
                    .addKeyValue("error", reason)
                    .log("labels could not be written, will try again");
            NodeImage image = fleet.get().nodeOrUnknown(node);
            log.labelled(node, image.nodeUid(), image.revision(), image.labelConflicts(), reason);
        }
        Duration wait = manner.firstRetry().multipliedBy(1L << Math.min(desk.failures, 6));
        desk.failures++;
        later(wait, node, () -> {}, desk);
    }

    /** Runs the change on the node's desk while nobody works there, then looks again. */
    private void later(Duration wait, String node, Runnable change, Desk desk) {
        var ignored = timer.schedule(
                () -> {
                    synchronized (this) {
                        if (desk.busy) {
                            later(manner.firstRetry(), node, change, desk);
                        } else {
                            change.run();
                            wake(node);
                        }
                    }
                },
                wait.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private synchronized Optional<NodeObject> object(String node) {
        return Optional.ofNullable(objects.get(node));
    }

    private static String valueOn(NodeObject found, String key) {
        return found.labels().getOrDefault(key, "");
    }
}
