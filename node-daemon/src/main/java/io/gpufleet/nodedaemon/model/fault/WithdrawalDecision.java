package io.gpufleet.nodedaemon.model.fault;

/**
 * Whether a fault withdraws its device, and which rule decided; published, so that a central policy does not contradict it.
 *
 * @param withdraws whether the device must not be allocated
 * @param rule the rule that decided
 */
public record WithdrawalDecision(boolean withdraws, Rule rule) {
    /** The rules, the strongest last. */
    public enum Rule {
        /** The kind of the fault; for an XID its number in the catalogue. */
        KIND,
        /** The driver's recovery action. */
        RECOVERY_ACTION,
        /** The error that the kernel's line names. */
        SUBCODE,
        /** The settings of this node name the XID. */
        NODE_SETTINGS
    }

    /** Returns this withdrawal, or a newer one that withdraws or that leaves the device as this one does. */
    WithdrawalDecision mergedWith(WithdrawalDecision newer) {
        return withdraws && !newer.withdraws ? this : newer;
    }
}
