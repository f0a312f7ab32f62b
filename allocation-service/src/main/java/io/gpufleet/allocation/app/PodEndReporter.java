package io.gpufleet.allocation.app;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the end of each pod once, on the active replica; a new active replica reports all finished pods again. What may
 * not be published now is kept, in order, until it may or another replica is active.
 */
public final class PodEndReporter implements TermListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PodEndReporter.class);
    private static final long RETRY_SECONDS = 1;

    private record PodEnd(ObservedPod pod, boolean deleted) {}

    private final PodFactPublisher facts;
    private final Executor publisher;
    private final Runnable onClose;
    private final Map<String, ObservedPod> ended = new HashMap<>();
    private final Deque<PodEnd> unpublished = new ArrayDeque<>();
    private boolean active;

    /** Reports nothing until activated; {@code publisher} runs one task at a time. */
    PodEndReporter(PodFactPublisher facts, Executor publisher, Runnable onClose) {
        this.facts = facts;
        this.publisher = publisher;
        this.onClose = onClose;
    }

    /** Starts the thread that publishes, which runs until it is closed. */
    public static PodEndReporter start(PodFactPublisher facts) {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("pod-end-reporter").daemon().factory());
        var reporter = new PodEndReporter(facts, timer, timer::shutdownNow);
        var _ = timer.scheduleWithFixedDelay(reporter::publish, RETRY_SECONDS, RETRY_SECONDS, TimeUnit.SECONDS);
        return reporter;
    }

    /** Reports the pod if it finished and that was not reported. */
    public synchronized void podUpdated(ObservedPod pod) {
        if (!pod.gpuPod().terminal() || pod.gpuPod().constraints().nodeName().isEmpty()) {
            return;
        }
        ObservedPod before = ended.put(pod.gpuPod().uid(), pod);
        if (before == null || !Objects.equals(before.finishedAt(), pod.finishedAt())) {
            add(new PodEnd(pod, false));
        }
    }

    /** Reports a deleted pod by its last known state. */
    public synchronized void podDeleted(ObservedPod pod) {
        ended.remove(pod.gpuPod().uid());
        if (!pod.gpuPod().constraints().nodeName().isEmpty()) {
            add(new PodEnd(pod, true));
        }
    }

    private void add(PodEnd end) {
        if (active) {
            unpublished.add(end);
            publisher.execute(this::publish);
        }
    }

    @Override
    public synchronized void activated() {
        active = true;
        unpublished.clear();
        ended.values().forEach(pod -> unpublished.add(new PodEnd(pod, false)));
        publisher.execute(this::publish);
    }

    @Override
    public synchronized void deactivated() {
        active = false;
        unpublished.clear();
    }

    /** Publishes what waits, oldest first, as far as that is allowed now. */
    void publish() {
        for (PodEnd next = first(); next != null; next = first()) {
            if (!tryPublish(next)) {
                putBack(next);
                return;
            }
        }
    }

    private boolean tryPublish(PodEnd end) {
        try {
            return facts.publish(end.pod(), end.deleted());
        } catch (RuntimeException unpublishable) {
            LOG.atWarn()
                    .addKeyValue("pod", end.pod().gpuPod().displayName())
                    .addKeyValue("error", unpublishable.toString())
                    .log("pod fact cannot be published");
            return true;
        }
    }

    private synchronized @Nullable PodEnd first() {
        return unpublished.pollFirst();
    }

    private synchronized void putBack(PodEnd end) {
        if (active) {
            unpublished.addFirst(end);
        }
    }

    @Override
    public void close() {
        onClose.run();
    }
}
