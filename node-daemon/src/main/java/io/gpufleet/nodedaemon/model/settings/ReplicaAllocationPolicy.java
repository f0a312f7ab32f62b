package io.gpufleet.nodedaemon.model.settings;

/** How containers are spread over GPUs that are offered several times, as replicas or as MIG instances. */
public enum ReplicaAllocationPolicy {
    /** The GPU with the fewest allocated devices first: every container gets the largest share of a GPU. */
    DISTRIBUTED,
    /** The GPU with the most allocated devices first: other GPUs stay empty as long as possible. */
    PACKED
}
