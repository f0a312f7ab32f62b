package io.gpufleet.nodedaemon.model.settings;

/** How MIG instances become resources; the values are NVIDIA's. */
public enum MigStrategy {
    /** MIG is ignored: each GPU is one device. */
    NONE,
    /** All instances of the node have one profile and are offered as {@code nvidia.com/gpu}. */
    SINGLE,
    /** Each profile is a resource of its own, for example {@code nvidia.com/mig-1g.5gb}. */
    MIXED
}
