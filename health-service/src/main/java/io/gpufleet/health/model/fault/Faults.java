package io.gpufleet.health.model.fault;

import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Faults of a device, or of a node itself.
 *
 * @param open by code
 * @param seen when faults were observed of which the rule counts observations, also after they ended; by code
 * @param history what was tried to repair them
 */
public record Faults(
        SequencedMap<FaultCode, Episode> open, SequencedMap<FaultCode, List<Instant>> seen, RepairHistory history) {
    /** No faults. */
    public static final Faults NONE = new Faults(new TreeMap<>(), new TreeMap<>(), RepairHistory.NONE);

    /** Copies the maps, sorted by code; empty ones are shared, since almost every device of a fleet has no fault. */
    public Faults {
        open = open.isEmpty() ? none() : Episode.byCode(open.values());
        seen = seen.isEmpty() ? none() : new TreeMap<>(seen);
    }

    private static <V> SequencedMap<FaultCode, V> none() {
        return Collections.emptySortedMap();
    }

    /** Copy with other open faults. */
    public Faults withOpen(SequencedMap<FaultCode, Episode> others) {
        return new Faults(others, seen, history);
    }

    /** Copy with other observations of one fault. */
    public Faults withSeen(FaultCode code, List<Instant> times) {
        Map<FaultCode, List<Instant>> more = new TreeMap<>(seen);
        more.put(code, List.copyOf(times));
        return new Faults(open, new TreeMap<>(more), history);
    }

    /** Copy with another history. */
    public Faults with(RepairHistory other) {
        return new Faults(open, seen, other);
    }

    /** Copy without what is remembered of former faults. */
    public Faults forgotten() {
        return new Faults(open, new TreeMap<>(), RepairHistory.NONE);
    }
}
