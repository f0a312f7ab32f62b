package io.gpufleet.health.model.fault;

/**
 * Reaction of the node's own daemon to a fault.
 *
 * @param withdraws true when it does not offer the device because of the fault
 * @param rule by which it decided
 */
public record DaemonWithdrawal(boolean withdraws, Rule rule) {
    /** A daemon that does not say. */
    public static final DaemonWithdrawal UNKNOWN = new DaemonWithdrawal(false, Rule.UNSPECIFIED);

    /** Rules of a daemon. */
    public enum Rule {
        /** The daemon does not say. */
        UNSPECIFIED,
        /** The kind of the fault; for an XID its number. */
        KIND,
        /** The driver's recovery action. */
        RECOVERY_ACTION,
        /** The error that the kernel's line names. */
        SUBCODE,
        /** The settings of the node name the XID. */
        NODE_SETTINGS
    }

    /** True when the daemon knows what no policy can: a harmless fault stays harmless too. */
    public boolean decidesAlone() {
        return switch (rule) {
            case SUBCODE, NODE_SETTINGS -> true;
            case UNSPECIFIED, KIND, RECOVERY_ACTION -> false;
        };
    }
}
