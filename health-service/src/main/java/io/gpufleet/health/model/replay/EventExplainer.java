package io.gpufleet.health.model.replay;

import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs the recorded signals of each node through one machine up to one event, and keeps what is decided about that. No budget
 * and no mode holds anything back, as in {@link PolicyComparison}.
 */
public final class EventExplainer {
    private final ReplayedNodes nodes;
    private final String eventId;
    private @Nullable ExplainedEvent explained;

    /** Explains the event of an id, {@code <writer>/<epoch>/<topic>/<sequence>}. */
    public EventExplainer(HealthMachine machine, String eventId) {
        this.nodes = new ReplayedNodes(machine);
        this.eventId = eventId;
    }

    /** Replays the next signal of a node, in the order of their append times; those after the event change nothing. */
    public void signal(String node, HealthSignal signal) {
        if (explained != null) {
            return;
        }
        Instant now = signal.metadata().at();
        passTime(node, now);
        DecisionResult result = nodes.decide(node, signal, now);
        if (signal.metadata().eventId().equals(eventId)) {
            explained = new ExplainedEvent(
                    node,
                    signal.metadata(),
                    result,
                    nodes.changesAt(node, Instant.MAX).orElse(Instant.MAX));
        }
    }

    private void passTime(String node, Instant until) {
        Instant before = Instant.MIN;
        for (int ticks = 0; ticks < ReplayedNodes.MAX_TICKS; ticks++) {
            Instant next = nodes.changesAt(node, until).orElse(until);
            if (!next.isBefore(until) || !next.isAfter(before)) {
                return;
            }
            before = next;
            nodes.decide(node, HealthSignal.TimePassed.at(next), next);
        }
    }

    /** Decision about the event; empty while it was not among the signals. */
    public Optional<ExplainedEvent> explained() {
        return Optional.ofNullable(explained);
    }
}
