package io.gpufleet.health.model.policy;

import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.fault.DaemonWithdrawal;
import io.gpufleet.health.model.fault.RecommendedAction;
import java.util.Locale;

/**
 * Rule of a policy for one fault.
 *
 * @param name for example {@code xid-79}; decisions record it with the policy's name as prefix
 * @param faultClass severity
 * @param recommendedAction for an operator
 * @param timing when it acts; until then the fault is suspect only, whatever the class
 * @param drain which pods have to leave while it withdraws
 * @param nodeAction how it keeps pods away from the node, where its class takes the node out of service
 */
public record FaultRule(
        String name,
        FaultClass faultClass,
        RecommendedAction recommendedAction,
        RuleTiming timing,
        DrainMode drain,
        NodeAction nodeAction) {
    /** A rule that taints, where its class takes the node out of service. */
    public FaultRule(
            String name,
            FaultClass faultClass,
            RecommendedAction recommendedAction,
            RuleTiming timing,
            DrainMode drain) {
        this(name, faultClass, recommendedAction, timing, drain, NodeAction.TAINT);
    }

    /** A rule that drains nothing. */
    public FaultRule(String name, FaultClass faultClass, RecommendedAction recommendedAction, RuleTiming timing) {
        this(name, faultClass, recommendedAction, timing, DrainMode.NONE);
    }

    /** A rule that acts at once. */
    public FaultRule(String name, FaultClass faultClass, RecommendedAction recommendedAction) {
        this(name, faultClass, recommendedAction, RuleTiming.IMMEDIATE);
    }

    /** The more severe of the two; this one when they are equal. */
    public FaultRule orWorse(FaultRule other) {
        return other.faultClass.compareTo(faultClass) > 0 ? other : this;
    }

    /** The rule for a fault about which the daemon decided so; the decision records by what it differs from this one. */
    FaultRule agreedWith(DaemonWithdrawal withdrawal) {
        if (withdrawal.withdraws() && !faultClass.withdraws()) {
            return new FaultRule(nameBy(withdrawal), FaultClass.WITHDRAW, recommendedAction, timing, drain, nodeAction);
        }
        if (!withdrawal.withdraws() && withdrawal.decidesAlone() && faultClass.withdraws()) {
            return new FaultRule(nameBy(withdrawal), FaultClass.SUSPECT, recommendedAction, timing);
        }
        return this;
    }

    private String nameBy(DaemonWithdrawal withdrawal) {
        return name + "/" + withdrawal.rule().name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The rule once the fault needs a boot of its node. */
    FaultRule forBoot() {
        return faultClass == FaultClass.WITHDRAW
                ? new FaultRule(name, FaultClass.TAINT_REBOOT, recommendedAction, timing, drain, nodeAction)
                : this;
    }

    /** The rule while something holds the fault off. */
    FaultRule restrained() {
        return faultClass.compareTo(FaultClass.SUSPECT) > 0
                ? new FaultRule(name, FaultClass.SUSPECT, RecommendedAction.NONE, timing)
                : this;
    }
}
