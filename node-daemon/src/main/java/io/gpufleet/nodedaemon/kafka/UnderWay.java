package io.gpufleet.nodedaemon.kafka;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * What is sent and not answered, in the order of each lane: an answer settles a place only once everything before it is
 * answered too.
 */
final class UnderWay {
    private final Map<Outbox.LaneName, ArrayDeque<Flight>> flights = new EnumMap<>(Outbox.LaneName.class);

    /** One event on its way. */
    static final class Flight {
        private final Lane.Position after;
        private final long sinceNanos;
        private boolean done;

        private Flight(Lane.Position after, long sinceNanos) {
            this.after = after;
            this.sinceNanos = sinceNanos;
        }
    }

    UnderWay() {
        for (Outbox.LaneName lane : Outbox.LaneName.values()) {
            flights.put(lane, new ArrayDeque<>());
        }
    }

    Flight begin(Outbox.LaneName lane, Lane.Position after, long nanos) {
        var flight = new Flight(after, nanos);
        queue(lane).add(flight);
        return flight;
    }

    /** The place up to which the lane is settled now; empty where something earlier is still on its way. */
    Optional<Lane.Position> answered(Outbox.LaneName lane, Flight flight) {
        flight.done = true;
        ArrayDeque<Flight> queue = queue(lane);
        Optional<Lane.Position> settled = Optional.empty();
        while (!queue.isEmpty() && queue.element().done) {
            settled = Optional.of(queue.remove().after);
        }
        return settled;
    }

    int count() {
        return flights.values().stream().mapToInt(ArrayDeque::size).sum();
    }

    /** Whether the oldest of a lane waits longer than that. */
    boolean stalled(long nowNanos, Duration patience) {
        return flights.values().stream()
                .filter(queue -> !queue.isEmpty())
                .anyMatch(queue -> nowNanos - queue.element().sinceNanos > patience.toNanos());
    }

    /** Nothing is on its way any more. */
    void clear() {
        flights.values().forEach(ArrayDeque::clear);
    }

    private ArrayDeque<Flight> queue(Outbox.LaneName lane) {
        return flights.computeIfAbsent(lane, _ -> new ArrayDeque<>());
    }
}
