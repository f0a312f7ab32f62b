package io.gpufleet.health.model.remediation;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** So many nodes are worked on at once: those with an open remediation, and those of which one is not committed yet. */
public final class RemediationAdmission {
    /** Time after which an uncommitted admission is lost. */
    private static final Duration COMMITTED_WITHIN = Duration.ofMinutes(1);

    private final Set<String> open = new HashSet<>();
    private final Map<String, Instant> admitted = new HashMap<>();

    /** A term begins. */
    public synchronized void clear() {
        open.clear();
        admitted.clear();
    }

    /** The progress of a node was committed. */
    public synchronized void committed(String node, RemediationProgress progress) {
        if (progress.open()) {
            open.add(node);
            admitted.remove(node);
        } else {
            open.remove(node);
        }
    }

    /** True when one more node may be worked on; it counts from now. */
    public synchronized boolean admit(String node, RemediationSettings settings, Instant now) {
        admitted.values().removeIf(since -> !now.isBefore(since.plus(COMMITTED_WITHIN)));
        var others = new HashSet<>(open);
        others.addAll(admitted.keySet());
        others.remove(node);
        if (others.size() >= settings.nodes()) {
            return false;
        }
        admitted.put(node, now);
        return true;
    }
}
