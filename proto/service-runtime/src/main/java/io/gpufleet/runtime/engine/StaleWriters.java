package io.gpufleet.runtime.engine;

import io.gpufleet.wire.EventSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Nodes whose newest events were all refused as older than one already applied: a sender whose incarnation went back, or
 * one that a forged incarnation shut out. A duplicate now and then is usual after a restart; a run of them is not.
 */
final class StaleWriters {
    private static final int RUN = 20;

    private final Map<String, Integer> runs = new ConcurrentHashMap<>();

    void seen(EventSource source, String key, boolean fresh) {
        if (!(source instanceof EventSource.Node)) {
            return;
        }
        if (!fresh) {
            runs.merge(key, 1, Integer::sum);
        } else if (!runs.isEmpty()) {
            runs.remove(key);
        }
    }

    void clear() {
        runs.clear();
    }

    boolean stale(String key) {
        return runs.getOrDefault(key, 0) >= RUN;
    }

    List<String> keys() {
        return runs.entrySet().stream()
                .filter(run -> run.getValue() >= RUN)
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }
}
