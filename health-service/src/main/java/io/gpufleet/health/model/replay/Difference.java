package io.gpufleet.health.model.replay;

import io.gpufleet.health.model.Decision;
import java.time.Instant;
import java.util.Optional;

/**
 * A decision that only one of two policies reaches at that time.
 *
 * @param first true for the first policy
 */
public record Difference(String node, Instant at, boolean first, Decision decision) {
    /** Key by which two decisions are the same, whatever the names of their rules. */
    record Effect(String device, String action, Decision.StateTransition transition, Decision.Status status) {
        static Effect of(Decision decision) {
            return new Effect(
                    decision.device(),
                    decision.action(),
                    decision.transition(),
                    decision.outcome().status());
        }
    }

    /** One line for people. */
    public String line() {
        return at + " " + node
                + Optional.of(decision.device())
                        .filter(device -> !device.isEmpty())
                        .map(device -> " " + device)
                        .orElse("")
                + ": only " + decision.rule() + " decides: " + decision.action() + " ("
                + decision.transition().from()
                + " -> " + decision.transition().to() + ")" + heldBack();
    }

    private String heldBack() {
        return switch (decision.outcome().status()) {
            case ACTED, RECORDED -> "";
            case STALE, OVERRIDDEN, OVER_BUDGET, OBSERVED ->
                ", " + decision.outcome().status() + ": " + decision.outcome().reason();
        };
    }
}
