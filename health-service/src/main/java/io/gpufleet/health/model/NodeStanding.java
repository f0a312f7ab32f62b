package io.gpufleet.health.model;

import java.time.Instant;

/**
 * What is concluded of a node as a whole.
 *
 * @param state HEALTHY, SUSPECT, UNHEALTHY or QUARANTINED
 * @param since since when it is so
 * @param reason machine-readable; empty when healthy
 * @param step what is due
 */
public record NodeStanding(HealthState state, Instant since, String reason, NextStep step) {
    /** Nothing is wrong. */
    public static NodeStanding healthy(Instant since) {
        return new NodeStanding(HealthState.HEALTHY, since, "", NextStep.NONE);
    }

    /** True when it is no other conclusion, whenever it was reached. */
    public boolean saysAs(NodeStanding other) {
        return state == other.state && reason.equals(other.reason) && step == other.step;
    }

    /** True when the node may not get work, unless an operator's hand says otherwise. */
    public boolean out() {
        return state == HealthState.UNHEALTHY || state == HealthState.QUARANTINED;
    }
}
