package io.gpufleet.inventory.app;

/** What is done where a Node does not have its desired labels. */
public enum LabelMode {
    /** The difference is logged and counted; no Node is written. */
    OBSERVE,
    /** The labels are applied. */
    WRITE
}
