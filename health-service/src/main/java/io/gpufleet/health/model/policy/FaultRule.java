package io.gpufleet.health.model.policy;

import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.Withdrawal;
import java.time.Duration;
import java.util.Locale;

/**
 * Rule of a policy for one fault.
 *
 * @param name for example {@code xid-79}; decisions record it with the policy's name as prefix
 * @param faultClass severity
 * @param recommendedAction for an operator
 * @param grace how long a fault is suspect only, whatever its class
 */
public record FaultRule(String name, FaultClass faultClass, RecommendedAction recommendedAction, Duration grace) {
    /** A rule without grace. */
    public FaultRule(String name, FaultClass faultClass, RecommendedAction recommendedAction) {
        this(name, faultClass, recommendedAction, Duration.ZERO);
    }

    /** Rejects a negative grace. */
    public FaultRule {
        if (grace.isNegative()) {
            throw new IllegalArgumentException("rule " + name + " has a negative grace");
        }
    }

    /** The more severe of the two; this one when they are equal. */
    public FaultRule orWorse(FaultRule other) {
        return other.faultClass.compareTo(faultClass) > 0 ? other : this;
    }

    /** The rule for a fault about which the daemon decided so; the decision records by what it differs from this one. */
    FaultRule agreedWith(Withdrawal withdrawal) {
        String by = "/" + withdrawal.rule().name().toLowerCase(Locale.ROOT).replace('_', '-');
        if (withdrawal.withdraws() && !faultClass.withdraws()) {
            return new FaultRule(name + by, FaultClass.WITHDRAW, recommendedAction, grace);
        }
        if (!withdrawal.withdraws() && withdrawal.decidesAlone() && faultClass.withdraws()) {
            return new FaultRule(name + by, FaultClass.SUSPECT, recommendedAction, grace);
        }
        return this;
    }

    /** The rule while its grace lasts. */
    FaultRule inGrace() {
        return faultClass.compareTo(FaultClass.SUSPECT) > 0 && !grace.isZero()
                ? new FaultRule(name, FaultClass.SUSPECT, RecommendedAction.NONE, grace)
                : this;
    }
}
