package io.gpufleet.health.model.replay;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.ManualOverride;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Decision of a policy about one event.
 *
 * @param event id, append time, and age when it was appended
 * @param result decisions, and the state of the node after them
 * @param changesAt when time alone decides next; {@link Instant#MAX} for never
 */
public record ExplainedEvent(String node, EventMetadata event, DecisionResult result, Instant changesAt) {
    /** Lines for people: the event, each decision with its rule and reason, the override in force, and what time brings. */
    public List<String> lines() {
        var lines = new ArrayList<String>();
        lines.add("event      " + event.eventId() + ", appended at " + event.at() + ", age " + event.age());
        lines.add("node       " + node);
        if (result.decisions().isEmpty()) {
            lines.add("decides    nothing: " + (result.events().isEmpty() ? "nothing new is known" : "it is noted"));
        }
        result.decisions().forEach(decision -> lines.add("decides    " + line(decision)));
        result.state().heldBack().forEach((device, held) -> lines.add("held back  " + about(device) + held.by()));
        ManualOverride override = result.state().override();
        if (override != null) {
            lines.add("override   " + override.target() + " removed by " + override.by() + " at " + override.since());
        }
        if (changesAt.isBefore(Instant.MAX)) {
            lines.add("later      time alone decides next at " + changesAt);
        }
        return lines;
    }

    /** One line for people: device, action, states, rule, whether it was carried out, why, and the budget. */
    public static String line(Decision decision) {
        String budget = decision.outcome().budget();
        return about(decision.device()) + decision.action() + " ("
                + decision.transition().from() + " -> " + decision.transition().to() + ") by " + decision.rule() + ", "
                + decision.outcome().status() + ": " + decision.outcome().reason()
                + (budget.isEmpty() ? "" : "; budget: " + budget);
    }

    private static String about(String device) {
        return device.isEmpty() ? "" : device + ": ";
    }
}
