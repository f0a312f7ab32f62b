package io.gpufleet.health.model.budget;

/** Limits of one group: for its nodes, and for the devices of its nodes. */
public record Limits(Limit nodes, Limit devices) {
    /** No limits. */
    public static final Limits NONE = new Limits(Limit.NONE, Limit.NONE);

    /** A tenth of the nodes and of the devices. */
    public static final Limits TENTH = new Limits(Limit.percent(10), Limit.percent(10));
}
