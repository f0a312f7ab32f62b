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
    private final Map<Outbox.QueueName, ArrayDeque<InFlightEvent>> byQueue = new EnumMap<>(Outbox.QueueName.class);

    /** One event in flight. */
    static final class InFlightEvent {
        private final QueuePosition after;
        private final long sinceNanos;
        private boolean done;

        private InFlightEvent(QueuePosition after, long sinceNanos) {
            this.after = after;
            this.sinceNanos = sinceNanos;
        }
    }

    InFlight() {
        for (Outbox.QueueName name : Outbox.QueueName.values()) {
            byQueue.put(name, new ArrayDeque<>());
        }
    }

    InFlightEvent add(Outbox.QueueName name, QueuePosition after, long nanos) {
        var flight = new InFlightEvent(after, nanos);
        queue(name).add(flight);
        return flight;
    }

    /** The position up to which the queue is acknowledged now; empty while an earlier event is in flight. */
    Optional<QueuePosition> completed(Outbox.QueueName name, InFlightEvent flight) {
        flight.done = true;
        ArrayDeque<InFlightEvent> events = queue(name);
        Optional<QueuePosition> acknowledged = Optional.empty();
        while (!events.isEmpty() && events.element().done) {
            acknowledged = Optional.of(events.remove().after);
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
    }

    private ArrayDeque<InFlightEvent> queue(Outbox.QueueName name) {
        return byQueue.computeIfAbsent(name, _ -> new ArrayDeque<>());
    }
}
