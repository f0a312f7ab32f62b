package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.app.NodeFact;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A bounded queue of facts for the publisher's thread, which blocks while the disk hangs. When it is full, telemetry is
 * dropped first, then the oldest facts, as in the outbox. Thread-safe; never blocks.
 */
final class PublisherQueue {
    /** About 14 minutes of telemetry of 8 GPUs, or 1,500 allocations of them; the daemon's heap begins with 32 MiB. */
    static final int MAX_BYTES = 2 * 1024 * 1024;

    private static final Logger LOG = LoggerFactory.getLogger(PublisherQueue.class);
    private static final int FACT_BYTES = 512;
    private static final int SAMPLE_BYTES = 3 * 1024;
    /** Of a text on the heap beside its characters. */
    private static final int TEXT_BYTES = 48;

    private final Runnable wakeUp;
    private final ArrayDeque<PendingFact> facts = new ArrayDeque<>();
    private final ArrayDeque<PendingFact> telemetry = new ArrayDeque<>();
    private final Map<EventType, Long> dropped = new EnumMap<>(EventType.class);
    private int bytes;
    private long droppedTotal;
    private boolean wakeUpPending;
    private boolean logged;

    /** A fact and the time of its observation. */
    record PendingFact(NodeFact fact, Moment observed) {
        private boolean isTelemetry() {
            return fact instanceof NodeFact.Sampled;
        }

        /** Estimated size on the heap; snapshots share much of their content. */
        private int bytes() {
            return FACT_BYTES
                    + switch (fact) {
                        case NodeFact.Sampled sampled -> sampled.samples().size() * SAMPLE_BYTES;
                        case NodeFact.Announced all ->
                            (all.gpus().size() + all.offers().size()) * FACT_BYTES;
                        case NodeFact.FaultsOpen open ->
                            (open.faults().size() + open.offers().size()) * FACT_BYTES;
                        case NodeFact.Held held ->
                            held.holdings().holders().stream()
                                    .mapToInt(holder -> FACT_BYTES + bytes(holder.deviceIds()))
                                    .sum();
                        case NodeFact.FaultObserved fault -> fault.holders().size() * FACT_BYTES;
                        case NodeFact.Allocated allocation -> bytes(allocation.deviceIds());
                        case NodeFact.Departed _, NodeFact.FaultCleared _, NodeFact.Offered _ -> 0;
                    };
        }

        private static int bytes(List<String> ids) {
            int sum = 0;
            for (String id : ids) {
                sum += TEXT_BYTES + id.length();
            }
            return sum;
        }
    }

    /** Calls {@code wakeUp} when a fact is added to the empty queue. */
    PublisherQueue(Runnable wakeUp) {
        this.wakeUp = wakeUp;
    }

    /** Adds a fact. */
    void add(NodeFact fact, Moment observed) {
        boolean first;
        boolean warn;
        synchronized (this) {
            put(new PendingFact(fact, observed));
            warn = evictOldest() && !logged;
            logged |= warn;
            first = !wakeUpPending;
            wakeUpPending = true;
        }
        if (warn) {
            LOG.warn("outbox disk hangs, events dropped before they are written; check GPUFLEET_STATE_DIR");
        }
        if (first) {
            wakeUp.run();
        }
    }

    private void put(PendingFact pending) {
        (pending.isTelemetry() ? telemetry : facts).add(pending);
        bytes += pending.bytes();
    }

    /** Drops facts until the limit is met; returns whether any was dropped. */
    private boolean evictOldest() {
        boolean any = false;
        while (bytes > MAX_BYTES && facts.size() + telemetry.size() > 1) {
            PendingFact oldest = (telemetry.isEmpty() ? facts : telemetry).remove();
            bytes -= oldest.bytes();
            dropped.merge(FactMessageMapper.type(oldest.fact()), 1L, Long::sum);
            droppedTotal++;
            any = true;
        }
        return any;
    }

    /** Removes the next fact, telemetry last. */
    synchronized Optional<PendingFact> take() {
        Optional<PendingFact> next = Optional.ofNullable(facts.poll()).or(() -> Optional.ofNullable(telemetry.poll()));
        next.ifPresent(pending -> bytes -= pending.bytes());
        return next;
    }

    /** Removes the next fact if it is of this topic and no telemetry. */
    synchronized Optional<PendingFact> takeOf(Topic topic) {
        PendingFact next = facts.peek();
        return next != null && FactMessageMapper.topic(next.fact()) == topic ? take() : Optional.empty();
    }

    /** Whether the queue has facts; if not, the next {@link #add} wakes up again. */
    synchronized boolean hasMore() {
        wakeUpPending = !isEmpty();
        logged &= wakeUpPending;
        return wakeUpPending;
    }

    synchronized boolean isEmpty() {
        return facts.isEmpty() && telemetry.isEmpty();
    }

    /** Number of facts dropped since the start. */
    synchronized long dropped() {
        return droppedTotal;
    }

    /** Facts dropped since the last call, by type; they are older than those of their type in the queue. */
    synchronized Map<EventType, Long> takeDropped() {
        var taken = new EnumMap<>(dropped);
        dropped.clear();
        return taken;
    }
}
