package io.gpufleet.health.model.policy;

import java.util.Locale;

/** Severity of a fault, least severe first; of several on one node the most severe names the taint. */
public enum FaultClass {
    /** Recorded only. */
    IGNORE,
    /** Shown, not acted upon. */
    SUSPECT,
    /** The device is not allocatable. */
    WITHDRAW,
    /** The device is not allocatable and the node is tainted: the driver does not work. */
    TAINT_DRIVER,
    /** The device is not allocatable and the node is tainted: the fabric does not work. */
    TAINT_FABRIC,
    /** The device is not allocatable and the node is tainted: it needs a reboot. */
    TAINT_REBOOT,
    /** The device is not allocatable and the node is tainted: the hardware needs service. */
    TAINT_HARDWARE;

    /** True when the device is withdrawn. */
    public boolean withdraws() {
        return compareTo(WITHDRAW) >= 0;
    }

    /** True when the node is tainted. */
    public boolean taintsNode() {
        return compareTo(WITHDRAW) > 0;
    }

    /** True when no boot repairs it: it ends by a proof of the daemon or by an operator's command. */
    public boolean outlivesBoots() {
        return this == TAINT_HARDWARE;
    }

    /** Spelling in policy files, for example {@code taint-reboot}. */
    public String slug() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
