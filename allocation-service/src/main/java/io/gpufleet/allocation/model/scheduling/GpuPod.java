package io.gpufleet.allocation.model.scheduling;

import java.time.Instant;
import java.util.List;

/**
 * A pod as far as quotas need it.
 *
 * @param name empty until the API server generates it from {@code generateName}
 * @param uid UID, or an identifier of the request where the pod has none yet
 * @param uidKnown whether {@code uid} is the UID of the pod
 * @param countsUntil when the pod stops using GPUs: {@link Instant#MIN} once it succeeded or failed, the end of its grace
 *     period once it is being deleted, so that a pod on a dead node ends too; else {@link Instant#MAX}
 */
public record GpuPod(
        String namespace,
        String name,
        String generateName,
        String uid,
        boolean uidKnown,
        Instant countsUntil,
        SchedulingConstraints constraints,
        List<ContainerResources> containers) {
    /** Copies. */
    public GpuPod {
        containers = List.copyOf(containers);
    }

    /** True when the pod succeeded or failed. */
    public boolean terminal() {
        return countsUntil.equals(Instant.MIN);
    }

    /** Namespace and name, for messages. */
    public String displayName() {
        return namespace + "/" + (name.isEmpty() ? generateName + "*" : name);
    }
}
