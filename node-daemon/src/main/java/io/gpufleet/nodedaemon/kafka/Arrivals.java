package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.wire.EventType;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Facts that wait for the thread of the bus, which may wait for the disk. Bounded, so that a disk that hangs costs no more
 * than that: telemetry is dropped first, then the oldest facts, as in the outbox. From any thread; nobody waits here.
 */
final class Arrivals {
    /** About 14 minutes of telemetry of 8 GPUs, or 4,000 grants; the daemon's heap has 32 MiB. */
    static final int MOST_BYTES = 2 * 1024 * 1024;

    private static final Logger LOG = LoggerFactory.getLogger(Arrivals.class);
    private static final int FACT_BYTES = 512;
    private static final int VITALS_BYTES = 3 * 1024;

    private final Runnable call;
    private final ArrayDeque<Arrival> facts = new ArrayDeque<>();
    private final ArrayDeque<Arrival> telemetry = new ArrayDeque<>();
    private final Map<EventType, Long> dropped = new EnumMap<>(EventType.class);
    private int bytes;
    private long droppedEver;
    private boolean called;
    private boolean said;

    /** A fact, and when it was observed. */
    record Arrival(Fact fact, Moment observed) {
        private boolean isTelemetry() {
            return fact instanceof Fact.Sampled;
        }

        /** What it holds on the heap, by a rule of thumb: much of a snapshot is shared with the next. */
        private int bytes() {
            return FACT_BYTES
                    + switch (fact) {
                        case Fact.Sampled sampled -> sampled.vitals().size() * VITALS_BYTES;
                        case Fact.Announced all ->
                            (all.gpus().size() + all.offers().size()) * FACT_BYTES;
                        case Fact.FaultsOpen open ->
                            (open.faults().size() + open.offers().size()) * FACT_BYTES;
                        case Fact.Held held -> held.holdings().holders().size() * FACT_BYTES;
                        case Fact.FaultObserved fault -> fault.holders().size() * FACT_BYTES;
                        case Fact.Allocated grant -> grant.deviceIds().size() * Long.BYTES;
                        case Fact.Departed _, Fact.FaultCleared _, Fact.Offered _ -> 0;
                    };
        }
    }

    /** Calls the thread of the bus when there is something to {@link #take} after there was nothing. */
    Arrivals(Runnable call) {
        this.call = call;
    }

    /** Takes in. */
    void add(Fact fact, Moment observed) {
        boolean first;
        boolean drops;
        synchronized (this) {
            put(new Arrival(fact, observed));
            drops = makeRoom() && !said;
            said |= drops;
            first = !called;
            called = true;
        }
        if (drops) {
            LOG.warn("the disk of the outbox hangs, events are dropped before they are kept; check GPUFLEET_STATE_DIR");
        }
        if (first) {
            call.run();
        }
    }

    private void put(Arrival arrival) {
        (arrival.isTelemetry() ? telemetry : facts).add(arrival);
        bytes += arrival.bytes();
    }

    /** Whether anything had to go. */
    private boolean makeRoom() {
        boolean any = false;
        while (bytes > MOST_BYTES && facts.size() + telemetry.size() > 1) {
            Arrival oldest = (telemetry.isEmpty() ? facts : telemetry).remove();
            bytes -= oldest.bytes();
            dropped.merge(FactMessages.type(oldest.fact()), 1L, Long::sum);
            droppedEver++;
            any = true;
        }
        return any;
    }

    /** The next one, facts before telemetry. */
    synchronized Optional<Arrival> take() {
        Optional<Arrival> next = Optional.ofNullable(facts.poll()).or(() -> Optional.ofNullable(telemetry.poll()));
        next.ifPresent(arrival -> bytes -= arrival.bytes());
        return next;
    }

    /** Whether more wait; where none do, the next that comes calls again. */
    synchronized boolean more() {
        called = !isEmpty();
        said &= called;
        return called;
    }

    synchronized boolean isEmpty() {
        return facts.isEmpty() && telemetry.isEmpty();
    }

    /** How many were dropped since the start. */
    synchronized long dropped() {
        return droppedEver;
    }

    /** What was dropped since this was last asked; older than all of its type that wait. */
    synchronized Map<EventType, Long> takeDropped() {
        var taken = new EnumMap<>(dropped);
        dropped.clear();
        return taken;
    }
}
