package io.gpufleet.allocation.model.ledger;

import java.util.Locale;

/** How an interval counts. */
public enum IntervalQuality {
    /** Allocated to a pod. */
    ALLOCATED,
    /** Allocated to a pod while the device was not trusted; refundable. */
    ALLOCATED_WHILE_FAULTY,
    /** Allocated to a pod when the daemon was last heard, and unproven since; never billed. */
    UNREACHABLE;

    /** Made once: a question about usage asks for that of each open interval of the fleet. */
    private final String text = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** Name in answers. */
    public String text() {
        return text;
    }
}
