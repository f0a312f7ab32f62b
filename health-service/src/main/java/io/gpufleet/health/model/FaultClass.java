package io.gpufleet.health.model;

import java.util.Locale;

/** What a fault is worth, the lightest first; of several on one node the last in this order names the taint. */
public enum FaultClass {
    /** Only recorded. */
    IGNORE,
    /** A sign that is not enough to act on. */
    SUSPECT,
    /** The device must not be handed out. */
    WITHDRAW,
    /** The node is marked: its driver does not work. */
    MARK_DRIVER,
    /** The node is marked: its fabric does not work. */
    MARK_FABRIC,
    /** The node is marked: only a reboot helps. */
    MARK_REBOOT,
    /** The node is marked: only hands or the vendor help. */
    MARK_HARDWARE;

    /** True when the device is taken out of service. */
    public boolean withdraws() {
        return compareTo(WITHDRAW) >= 0;
    }

    /** True when the whole node is marked. */
    public boolean marksNode() {
        return compareTo(WITHDRAW) > 0;
    }

    /** As policy files spell it, for example {@code mark-reboot}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
