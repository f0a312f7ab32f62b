package io.gpufleet.allocation.model.scheduling;

import java.util.List;

/**
 * A pod as far as quotas need it.
 *
 * @param name empty until the API server generates it from {@code generateName}
 * @param uid UID, or an identifier of the request where the pod has none yet
 * @param uidKnown whether {@code uid} is the UID of the pod
 * @param terminal whether the pod succeeded or failed, so that it uses no GPUs
 */
public record GpuPod(
        String namespace,
        String name,
        String generateName,
        String uid,
        boolean uidKnown,
        boolean terminal,
        SchedulingConstraints constraints,
        List<ContainerResources> containers) {
    /** Copies. */
    public GpuPod {
        containers = List.copyOf(containers);
    }

    /** Namespace and name, for messages. */
    public String displayName() {
        return namespace + "/" + (name.isEmpty() ? generateName + "*" : name);
    }
}
