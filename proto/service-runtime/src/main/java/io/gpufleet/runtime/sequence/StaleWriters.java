package io.gpufleet.runtime.sequence;

import io.gpufleet.wire.EventSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Nodes whose newest events were all refused as older than one already applied: a sender whose incarnation went back, or
 * one that a forged incarnation shut out. A duplicate now and then is usual after a restart; a run of them is not.
 */
public final class StaleWriters {
    private static final int RUN = 20;

    private final Map<String, Integer> runs = new ConcurrentHashMap<>();

    /** An event of a writer was admitted (fresh) or refused as one applied before; writers that are no node do not count. */
    public void seen(EventSource source, String key, boolean fresh) {
        if (!(source instanceof EventSource.Node)) {
            return;
        }
        if (!fresh) {
            runs.merge(key, 1, Integer::sum);
        } else if (!runs.isEmpty()) {
            runs.remove(key);
        }
    }

    /** Forgets every run, as at the end of a term. */
    public void clear() {
        runs.clear();
    }

    /** Whether the newest 20 events of a node were all refused. */
    public boolean stale(String key) {
        return runs.getOrDefault(key, 0) >= RUN;
    }

    /** All nodes of which that is true, sorted. */
    public List<String> keys() {
        return runs.entrySet().stream()
                .filter(run -> run.getValue() >= RUN)
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }
}
