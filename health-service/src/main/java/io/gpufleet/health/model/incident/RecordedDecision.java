package io.gpufleet.health.model.incident;

import io.gpufleet.health.model.Decision;
import java.time.Instant;

/**
 * A decision as the log has it.
 *
 * @param id id of its event
 * @param node the node that it is about; the fleet's key for a decision about the fleet
 * @param at append time
 */
public record RecordedDecision(String id, String node, Instant at, Decision decision) {
    /** GPU UUID; empty for a decision about the node. */
    public String device() {
        return decision.device();
    }

    /** True when something stays out of service, or would without mode, budget or override. */
    boolean adverse() {
        return switch (decision.outcome().status()) {
            case ACTED, RECORDED -> !decision.healthyAfter() && !Decision.returnsNode(decision.action());
            case STALE, OVERRIDDEN, OVER_BUDGET, OBSERVED -> true;
        };
    }

    /** True when what it is about is out of service, or held back, until a later decision. */
    boolean lasting() {
        return switch (decision.outcome().status()) {
            case ACTED -> device().isEmpty() ? Decision.takesNodeOut(decision.action()) : !decision.healthyAfter();
            case RECORDED -> !device().isEmpty() && !decision.healthyAfter();
            case OVER_BUDGET, OBSERVED -> true;
            case STALE, OVERRIDDEN -> false;
        };
    }
}
