package io.gpufleet.health.app;

import io.gpufleet.health.model.incident.Incident;
import io.gpufleet.health.model.incident.IncidentLog;
import io.gpufleet.health.model.incident.RecordedDecision;
import java.util.List;
import java.util.function.Predicate;

/** The incidents of the fleet, for readers on any thread, on the leader and on a standby. */
public final class IncidentStore {
    private final IncidentLog log = new IncidentLog();
    private boolean loaded;

    /** The decisions are read anew. */
    public synchronized void clear() {
        log.clear();
        loaded = false;
    }

    /** A decision was committed. */
    public synchronized void add(RecordedDecision decision) {
        log.add(decision);
    }

    /** The decisions that are kept were read. */
    public synchronized void loaded() {
        loaded = true;
    }

    /** False while older incidents may still be missing. */
    public synchronized boolean isLoaded() {
        return loaded;
    }

    /** The newest incidents that are wanted, at most {@code limit}, newest first. */
    public synchronized List<Incident> newest(Predicate<Incident> wanted, int limit) {
        return log.newestFirst().filter(wanted).limit(limit).toList();
    }

    /** Incidents of a node, newest first. */
    public synchronized List<Incident> ofNode(String node) {
        return log.ofNode(node).toList().reversed();
    }

    /** Decisions about a GPU on any node, oldest first. */
    public synchronized List<RecordedDecision> timeline(String device) {
        return log.timeline(device);
    }
}
