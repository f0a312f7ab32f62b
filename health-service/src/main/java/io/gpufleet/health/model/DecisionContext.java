package io.gpufleet.health.model;

import java.util.List;

/**
 * Cause that the decisions of one signal record.
 *
 * @param reason one line for people
 * @param rule rule without the policy's name; used where no open fault names one
 * @param holders pods that held the device when the fault was observed
 */
record DecisionContext(String reason, String rule, List<HealthSignal.Holder> holders) {
    /** For signals without a reason of their own. */
    static final DecisionContext NONE = recovery("");

    static DecisionContext of(String reason, String rule) {
        return new DecisionContext(reason, rule, List.of());
    }

    /** For signals that can only end a fault. */
    static DecisionContext recovery(String reason) {
        return of(reason, "recovery");
    }
}
