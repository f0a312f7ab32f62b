package io.gpufleet.allocation.model.quota;

import java.util.List;

/**
 * A pod as quotas see it.
 *
 * @param name name; empty where the API server has still to make it from {@code generateName}
 * @param uid UID, or whatever identifies the question where there is none yet
 * @param uidKnown whether {@code uid} is the pod's own
 * @param over whether the pod is terminal: it holds nothing
 */
public record PodAsk(
        String namespace,
        String name,
        String generateName,
        String uid,
        boolean uidKnown,
        boolean over,
        Placement placement,
        List<ContainerAsk> containers) {
    /** Copies. */
    public PodAsk {
        containers = List.copyOf(containers);
    }

    /** Namespace and name for people. */
    public String label() {
        return namespace + "/" + (name.isEmpty() ? generateName + "*" : name);
    }
}
