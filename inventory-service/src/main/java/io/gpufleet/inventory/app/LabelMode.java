package io.gpufleet.inventory.app;

/** Treatment of a Node that does not have its desired labels. */
public enum LabelMode {
    /** The difference is logged and counted; no Node is written. */
    OBSERVE,
    /** The labels are applied. */
    WRITE
}
