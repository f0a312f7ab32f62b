package io.gpufleet.health.model.policy;

import io.gpufleet.health.model.fault.RecommendedAction;

/**
 * Rule of a policy for one fault.
 *
 * @param name for example {@code xid-79}; decisions record it with the policy's name as prefix
 * @param faultClass severity
 * @param recommendedAction for an operator
 */
public record FaultRule(String name, FaultClass faultClass, RecommendedAction recommendedAction) {
    /** The more severe of the two; this one when they are equal. */
    public FaultRule orWorse(FaultRule other) {
        return other.faultClass.compareTo(faultClass) > 0 ? other : this;
    }
}
