package io.gpufleet.health.model;

import io.gpufleet.health.model.device.HealthState;
import java.util.List;

/**
 * One decision as it is recorded, including decisions that were held back.
 *
 * @param device GPU UUID; empty for a decision about the node
 * @param evidence ids of the events that led to it
 * @param rule policy and rule, for example {@code nvidia/xid-79}
 * @param transition state before and after
 * @param action action taken, one line for people
 * @param outcome whether it was carried out, and why
 * @param holders pods that held the device at the fault
 * @param revision revision of the verdict that carries it; 0 when no verdict changed
 */
public record Decision(
        String device,
        List<String> evidence,
        String rule,
        StateTransition transition,
        String action,
        Outcome outcome,
        List<HealthSignal.Holder> holders,
        long revision) {
    /** Action: a device leaves service. */
    public static final String WITHDRAW = "withdraw device";

    /** Action: a device returns to service. */
    public static final String TRUST = "trust device again";

    /** Action: the node is tainted. */
    public static final String APPLY_TAINT = "taint node";

    /** Action: the taint of the node is removed. */
    public static final String REMOVE_TAINT = "remove taint";

    /** Action of a decision that makes the node unschedulable and does not taint it. */
    public static final String CORDON = "cordon node";

    /** Action of a decision that ends that. */
    public static final String UNCORDON = "uncordon node";

    /** Action of a decision that records that the health of a node is not known: this text and the reason. */
    public static final String HEALTH_UNKNOWN = "health is unknown: ";

    /** Action of a decision that records the end of that. */
    public static final String HEALTH_KNOWN = "health is known again";

    /** True for an action that takes the node out of service. */
    public static boolean takesNodeOut(String action) {
        return action.equals(APPLY_TAINT) || action.equals(CORDON);
    }

    /** True for an action that returns the node to service. */
    public static boolean returnsNode(String action) {
        return action.equals(REMOVE_TAINT) || action.equals(UNCORDON);
    }

    /** Copies the lists. */
    public Decision {
        evidence = List.copyOf(evidence);
        holders = List.copyOf(holders);
    }

    /** State before and after a decision; both equal when it changed nothing. */
    public record StateTransition(HealthState from, HealthState to) {}

    /**
     * Outcome of a decision.
     *
     * @param status whether it was carried out
     * @param reason why, one line for people
     * @param budget the budget that was checked, with what was out before; empty when none was
     */
    public record Outcome(Status status, String reason, String budget) {
        /** An outcome that no budget decides. */
        public Outcome(Status status, String reason) {
            this(status, reason, "");
        }
    }

    /** Whether a decision was carried out. */
    public enum Status {
        /** Carried out. */
        ACTED,
        /** Recorded only. */
        RECORDED,
        /** Held back: too old, or of another boot. */
        STALE,
        /** Held back by a manual override. */
        OVERRIDDEN,
        /** Held back by a budget. */
        OVER_BUDGET,
        /** Held back by mode observe. */
        OBSERVED
    }

    /** True when nothing is wrong with it after the decision. */
    public boolean healthyAfter() {
        return transition.to() == HealthState.HEALTHY;
    }

    Decision withRevision(long verdictRevision) {
        return new Decision(device, evidence, rule, transition, action, outcome, holders, verdictRevision);
    }
}
