package io.gpufleet.allocation.app;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Reports the end of each pod once, on the active replica; a new active replica reports all finished pods again. */
public final class PodEndReporter {
    private final PodFactPublisher facts;
    private final Map<String, ObservedPod> ended = new HashMap<>();
    private boolean active;

    /** Reports nothing until activated. */
    public PodEndReporter(PodFactPublisher facts) {
        this.facts = facts;
    }

    /** Reports the pod if it finished and that was not reported. */
    public synchronized void podUpdated(ObservedPod pod) {
        if (!pod.gpuPod().terminal() || pod.gpuPod().constraints().nodeName().isEmpty()) {
            return;
        }
        ObservedPod before = ended.put(pod.gpuPod().uid(), pod);
        if (active && (before == null || !Objects.equals(before.finishedAt(), pod.finishedAt()))) {
            facts.publish(pod, false);
        }
    }

    /** Reports a deleted pod by its last known state. */
    public synchronized void podDeleted(ObservedPod pod) {
        ended.remove(pod.gpuPod().uid());
        if (active && !pod.gpuPod().constraints().nodeName().isEmpty()) {
            facts.publish(pod, true);
        }
    }

    /** Starts reporting. */
    public synchronized void activated() {
        active = true;
        ended.values().forEach(pod -> facts.publish(pod, false));
    }

    /** Stops reporting. */
    public synchronized void deactivated() {
        active = false;
    }
}
