package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.holding.PodLabels;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.Interner;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports each pod once when it is bound to a node, for its owner and labels, and once when it ended, on the active
 * replica. A new active replica reports all finished pods again, and those that the ledger does not know. What may not be
 * published now is kept, in order, until it may or another replica is active.
 */
public final class PodReporter implements TermListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PodReporter.class);
    private static final long RETRY_SECONDS = 1;
    private static final long FORGET_SECONDS = 30;

    private record PodChange(ObservedPod pod, boolean deleted) {}

    /** Which pods, by node and UID, need not be reported again when this replica becomes active. */
    public interface Known {
        /** True when the ledger of the node has owner and labels of the pod. */
        boolean knows(String node, String podUid);
    }

    private final PodFactPublisher facts;
    private final Set<String> labels;
    private final Known ledger;
    private final Executor publisher;
    private final Runnable onClose;
    /** Pods by UID that a new active replica may have to report. */
    private final Map<String, ObservedPod> observed = new HashMap<>();
    /** UIDs of running pods that the ledger knows: of many pods in a fleet, no more than that. */
    private final Set<String> known = new HashSet<>();

    private final Interner<String> texts = new Interner<>();
    private final Interner<Map<String, String>> labelSets = new Interner<>();
    private final Deque<PodChange> unpublished = new ArrayDeque<>();
    private boolean active;

    /** Reports nothing until activated; {@code publisher} runs one task at a time, {@code labels} are the keys it reports. */
    PodReporter(PodFactPublisher facts, Set<String> labels, Known ledger, Executor publisher, Runnable onClose) {
        this.facts = facts;
        this.labels = labels;
        this.ledger = ledger;
        this.publisher = publisher;
        this.onClose = onClose;
    }

    /** Starts the thread that publishes, which runs until it is closed. */
    public static PodReporter start(PodFactPublisher facts, Set<String> labels, Known ledger) {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("pod-reporter").daemon().factory());
        var reporter = new PodReporter(facts, labels, ledger, timer, timer::shutdownNow);
        var _ = timer.scheduleWithFixedDelay(reporter::publish, RETRY_SECONDS, RETRY_SECONDS, TimeUnit.SECONDS);
        var _ = timer.scheduleWithFixedDelay(reporter::forgetKnown, FORGET_SECONDS, FORGET_SECONDS, TimeUnit.SECONDS);
        return reporter;
    }

    /** Reports the pod if it is bound or finished and that was not reported. */
    public synchronized void podUpdated(ObservedPod pod) {
        if (pod.gpuPod().constraints().nodeName().isEmpty()) {
            return;
        }
        String uid = pod.gpuPod().uid();
        if (known.contains(uid) && !pod.gpuPod().terminal()) {
            return;
        }
        known.remove(uid);
        ObservedPod before = observed.get(uid);
        if (before == null
                || before.gpuPod().terminal() != pod.gpuPod().terminal()
                || !Objects.equals(before.finishedAt(), pod.finishedAt())) {
            ObservedPod reduced = reduced(pod);
            observed.put(uid, reduced);
            add(new PodChange(reduced, false));
        }
    }

    /** Without what is not reported: a fleet has many pods, and each may have large constraints and many labels. */
    private ObservedPod reduced(ObservedPod pod) {
        GpuPod full = pod.gpuPod();
        var gpuPod = new GpuPod(
                texts.intern(full.namespace()),
                full.name(),
                "",
                full.uid(),
                full.uidKnown(),
                full.terminal() ? Instant.MIN : Instant.MAX,
                new SchedulingConstraints(
                        Map.of(), List.of(), texts.intern(full.constraints().nodeName())),
                List.of());
        return new ObservedPod(
                gpuPod,
                texts.intern(pod.phase()),
                pod.finishedAt(),
                texts.intern(pod.owner()),
                labelSets.intern(PodLabels.selected(pod.labels(), labels)));
    }

    /** Reports a deleted pod by its last known state. */
    public synchronized void podDeleted(ObservedPod pod) {
        observed.remove(pod.gpuPod().uid());
        known.remove(pod.gpuPod().uid());
        if (!pod.gpuPod().constraints().nodeName().isEmpty()) {
            add(new PodChange(reduced(pod), true));
        }
    }

    private void add(PodChange change) {
        if (active) {
            unpublished.add(change);
            publisher.execute(this::publish);
        }
    }

    @Override
    public synchronized void activated() {
        active = true;
        unpublished.clear();
        forgetKnown();
        observed.values().forEach(pod -> unpublished.add(new PodChange(pod, false)));
        publisher.execute(this::publish);
    }

    /** Keeps no more than the UIDs of running pods that the ledger knows. */
    synchronized void forgetKnown() {
        observed.values()
                .removeIf(pod -> !pod.gpuPod().terminal()
                        && ledger.knows(
                                pod.gpuPod().constraints().nodeName(),
                                pod.gpuPod().uid())
                        && known.add(pod.gpuPod().uid()));
    }

    /** Number of pods that a new active replica would report. */
    synchronized int unknown() {
        return observed.size();
    }

    @Override
    public synchronized void deactivated() {
        active = false;
        unpublished.clear();
    }

    /** Publishes what waits, oldest first, as far as that is allowed now. */
    void publish() {
        for (PodChange next = first(); next != null; next = first()) {
            if (!tryPublish(next)) {
                putBack(next);
                return;
            }
        }
    }

    private boolean tryPublish(PodChange change) {
        try {
            return facts.publish(change.pod(), change.deleted());
        } catch (RuntimeException unpublishable) {
            LOG.atWarn()
                    .addKeyValue("pod", change.pod().gpuPod().displayName())
                    .addKeyValue("error", unpublishable.toString())
                    .log("pod fact cannot be published");
            return true;
        }
    }

    private synchronized @Nullable PodChange first() {
        return unpublished.pollFirst();
    }

    private synchronized void putBack(PodChange change) {
        if (active) {
            unpublished.addFirst(change);
        }
    }

    @Override
    public void close() {
        onClose.run();
    }
}
