package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.kafka.outbox.Outbox;
import io.gpufleet.nodedaemon.kafka.outbox.QueuePosition;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * Events that were sent and not acknowledged by the broker, in the order of each queue: a position is acknowledged only
 * once every event before it is.
 */
final class InFlight {
    private static final int MAX_EVENTS = 500;
    /** A quarter of the producer's buffer, where a record may take twice its size. */
    private static final long MAX_BYTES = 1024 * 1024;

    private final Map<Outbox.QueueName, ArrayDeque<InFlightEvent>> byQueue = new EnumMap<>(Outbox.QueueName.class);
    private long bytes;

    /** One event in flight. */
    static final class InFlightEvent {
        private final QueuePosition after;
        private final long sinceNanos;
        private final int bytes;
        private boolean done;

        private InFlightEvent(QueuePosition after, long sinceNanos, int bytes) {
            this.after = after;
            this.sinceNanos = sinceNanos;
            this.bytes = bytes;
        }

        /** The broker has it, or refused it for ever. */
        void completed() {
            done = true;
        }
    }

    InFlight() {
        for (Outbox.QueueName name : Outbox.QueueName.values()) {
            byQueue.put(name, new ArrayDeque<>());
        }
    }

    InFlightEvent add(Outbox.OutgoingEvent event, long nanos) {
        int size = event.entry().map(entry -> entry.json().length).orElse(0);
        var flight = new InFlightEvent(event.after(), nanos, size);
        queue(event.queue()).add(flight);
        bytes += size;
        return flight;
    }

    /** Whether the next event has to wait for an acknowledgement. */
    boolean isFull() {
        return bytes > MAX_BYTES || count() >= MAX_EVENTS;
    }

    /** The position up to which the queue was acknowledged since the last call; empty where nothing came. */
    Optional<QueuePosition> takeAcknowledged(Outbox.QueueName name) {
        ArrayDeque<InFlightEvent> events = queue(name);
        Optional<QueuePosition> acknowledged = Optional.empty();
        while (!events.isEmpty() && events.element().done) {
            InFlightEvent first = events.remove();
            bytes -= first.bytes;
            acknowledged = Optional.of(first.after);
        }
        return acknowledged;
    }

    int count() {
        return byQueue.values().stream().mapToInt(ArrayDeque::size).sum();
    }

    /** Whether the oldest event of a queue is in flight for longer than the timeout. */
    boolean stalled(long nowNanos, Duration timeout) {
        return byQueue.values().stream()
                .filter(queue -> !queue.isEmpty())
                .anyMatch(queue -> nowNanos - queue.element().sinceNanos > timeout.toNanos());
    }

    /** Removes every event. */
    void clear() {
        byQueue.values().forEach(ArrayDeque::clear);
        bytes = 0;
    }

    private ArrayDeque<InFlightEvent> queue(Outbox.QueueName name) {
        return byQueue.computeIfAbsent(name, _ -> new ArrayDeque<>());
    }
}
