package io.gpufleet.allocation.model.ledger;

/** Why an interval ended or was adjusted. */
public enum IntervalEndReason {
    /** A snapshot does not list it any more. */
    RELEASED("released"),
    /** Its pod finished at a known time. */
    POD_FINISHED("pod-finished"),
    /** Another pod of the same name replaced its pod. */
    UID_CHANGED("uid-changed"),
    /** Model, share or profile of the device changed. */
    DEVICE_CHANGED("device-changed"),
    /** The device lost or regained trust. */
    TRUST_CHANGED("trust-changed"),
    /** The node rebooted. */
    NODE_REBOOTED("node-rebooted"),
    /** The Node object was deleted. */
    NODE_LOST("node-lost"),
    /** Another machine took over the node's name. */
    MACHINE_REPLACED("machine-replaced");

    private final String wireName;

    IntervalEndReason(String wireName) {
        this.wireName = wireName;
    }

    /** Name on the wire. */
    public String wireName() {
        return wireName;
    }

    /** Reason by its name on the wire; {@link #RELEASED} for an unknown name. */
    public static IntervalEndReason of(String wireName) {
        for (IntervalEndReason reason : values()) {
            if (reason.wireName.equals(wireName)) {
                return reason;
            }
        }
        return RELEASED;
    }
}
