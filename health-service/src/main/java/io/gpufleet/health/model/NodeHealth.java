package io.gpufleet.health.model;

import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.drain.DrainOrder;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.NodeAction;
import java.time.Instant;

/**
 * Health of a node as a whole.
 *
 * @param state HEALTHY, SUSPECT, UNHEALTHY or QUARANTINED
 * @param since start of this state and reason
 * @param reason machine-readable; empty when healthy
 * @param recommendedAction for an operator
 * @param drain which pods have to leave, as far as nothing is held back
 * @param nodeAction how pods are kept away while it is out of service
 * @param withdrawsEveryDevice true when the reason concerns the whole node: a quarantine by hand, or a fault of the node itself
 */
public record NodeHealth(
        HealthState state,
        Instant since,
        String reason,
        RecommendedAction recommendedAction,
        DrainOrder drain,
        NodeAction nodeAction,
        boolean withdrawsEveryDevice) {
    /** A healthy node. */
    public static NodeHealth healthy(Instant since) {
        return new NodeHealth(
                HealthState.HEALTHY, since, "", RecommendedAction.NONE, DrainOrder.NONE, NodeAction.TAINT, false);
    }

    /** True when all but the time are the same. */
    public boolean equalsIgnoringSince(NodeHealth other) {
        return state == other.state
                && reason.equals(other.reason)
                && recommendedAction == other.recommendedAction
                && drain.equals(other.drain)
                && nodeAction == other.nodeAction
                && withdrawsEveryDevice == other.withdrawsEveryDevice;
    }

    /** True when the node must not get work, unless a manual override is in force. */
    public boolean outOfService() {
        return state == HealthState.UNHEALTHY || state == HealthState.QUARANTINED;
    }
}
