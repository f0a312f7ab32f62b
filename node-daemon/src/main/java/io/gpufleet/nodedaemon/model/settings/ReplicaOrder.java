package io.gpufleet.nodedaemon.model.settings;

/** How containers are put on GPUs that are offered several times, as replicas or as MIG instances. */
public enum ReplicaOrder {
    /** The GPU with the fewest devices taken comes first: everybody gets the most of a GPU. */
    DISTRIBUTED,
    /** The GPU with the most devices taken comes first: other GPUs stay empty as long as possible. */
    PACKED
}
