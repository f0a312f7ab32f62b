package io.gpufleet.allocation.app.quota;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Limits how many reviews of a namespace are decided, so that a namespace that creates pods without end delays no other
 * one. For the decider's thread.
 */
final class NamespaceRateLimit {
    /** Reviews of a namespace a second, in the long run; one controller of Kubernetes creates at most 20 pods a second. */
    static final int PER_SECOND = 100;

    /** Reviews of a namespace at once, after a pause. */
    static final int BURST = 2_000;

    private static final long INTERVAL = Duration.ofSeconds(1).toNanos() / PER_SECOND;
    private static final int MAX_NAMESPACES = 20_000;

    /** Monotonic time at which a namespace has its whole burst again; the one that asked longest ago is first. */
    private final Map<String, Long> restoredAt = new LinkedHashMap<>();

    /** True when a review of the namespace may be decided at a monotonic time; that counts as one. */
    boolean permits(String namespace, long nanos) {
        Long known = restoredAt.remove(namespace);
        long from = known == null || known - nanos < 0 ? nanos : known;
        boolean permitted = from - nanos < BURST * INTERVAL;
        restoredAt.put(namespace, permitted ? from + INTERVAL : from);
        if (restoredAt.size() > MAX_NAMESPACES) {
            restoredAt.remove(restoredAt.keySet().iterator().next());
        }
        return permitted;
    }
}
