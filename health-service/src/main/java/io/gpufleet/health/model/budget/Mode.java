package io.gpufleet.health.model.budget;

/** Whether the decisions of the policy are carried out; commands of operators always are. */
public enum Mode {
    /** Decisions are recorded and shown, nothing is withdrawn or tainted. */
    OBSERVE,
    /** Devices are withdrawn and nodes are tainted. */
    ENFORCE
}
