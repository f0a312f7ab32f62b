package io.gpufleet.allocation.model.ledger;

/** Why an interval ended or was adjusted. */
public enum EndReason {
    /** A snapshot no longer lists it. */
    RELEASED("released"),
    /** Its pod is over, and the end is known. */
    POD_FINISHED("pod-finished"),
    /** Another pod of the same name took its place. */
    UID_CHANGED("uid-changed"),
    /** Model, share or profile of the device changed. */
    DEVICE_CHANGED("device-changed"),
    /** The device lost or regained trust. */
    TRUST_CHANGED("trust-changed"),
    /** The node booted anew. */
    NODE_REBOOTED("node-rebooted"),
    /** The Node object is gone. */
    NODE_LOST("node-lost"),
    /** Another machine answers under the node's name. */
    MACHINE_REPLACED("machine-replaced");

    private final String word;

    EndReason(String word) {
        this.word = word;
    }

    /** The word on the wire. */
    public String word() {
        return word;
    }

    /** The reason with the word; an unknown word reads as released. */
    public static EndReason of(String word) {
        for (EndReason reason : values()) {
            if (reason.word.equals(word)) {
                return reason;
            }
        }
        return RELEASED;
    }
}
