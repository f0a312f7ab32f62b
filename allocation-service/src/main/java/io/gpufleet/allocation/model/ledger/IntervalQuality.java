package io.gpufleet.allocation.model.ledger;

/** How an interval counts. */
public enum IntervalQuality {
    /** Allocated to a pod. */
    ALLOCATED,
    /** Allocated to a pod while the device was not trusted; refundable. */
    ALLOCATED_WHILE_FAULTY,
    /** Allocated to a pod when the daemon was last heard, and unproven since; never billed. */
    UNREACHABLE
}
