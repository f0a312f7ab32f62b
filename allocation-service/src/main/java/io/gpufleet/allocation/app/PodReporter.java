package io.gpufleet.allocation.app;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Reports the ends of pods once, by the active replica; a new active replica reports those it finds ended again. */
public final class PodReporter {
    private static final Set<String> OVER = Set.of("Succeeded", "Failed");

    private final PodFacts facts;
    private final Map<String, ObservedPod> ended = new HashMap<>();
    private boolean active;

    /** Silent until activated. */
    public PodReporter(PodFacts facts) {
        this.facts = facts;
    }

    /** A pod as it stands. */
    public synchronized void seen(ObservedPod pod) {
        if (!OVER.contains(pod.phase()) || pod.ask().placement().nodeName().isEmpty()) {
            return;
        }
        ObservedPod before = ended.put(pod.ask().uid(), pod);
        if (active && (before == null || !java.util.Objects.equals(before.finishedAt(), pod.finishedAt()))) {
            facts.tell(pod, false);
        }
    }

    /** A pod's object is gone; this is how it was last seen. */
    public synchronized void gone(ObservedPod pod) {
        ended.remove(pod.ask().uid());
        if (active && !pod.ask().placement().nodeName().isEmpty()) {
            facts.tell(pod, true);
        }
    }

    /** This replica reports from now on. */
    public synchronized void activated() {
        active = true;
        ended.values().forEach(pod -> facts.tell(pod, false));
    }

    /** It reports no more. */
    public synchronized void deactivated() {
        active = false;
    }
}
