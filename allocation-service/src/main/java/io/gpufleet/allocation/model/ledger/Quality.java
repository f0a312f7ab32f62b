package io.gpufleet.allocation.model.ledger;

/** How an interval counts. */
public enum Quality {
    /** Held by a pod. */
    ALLOCATED,
    /** Held by a pod while the device was not to be trusted; refundable. */
    ALLOCATED_WHILE_FAULTY
}
