package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.device.Gpu;

/**
 * One device as it is reported to the kubelet.
 *
 * @param id as the kubelet knows the device
 * @param gpu the physical GPU
 * @param partition the whole GPU or one MIG instance
 * @param resource Kubernetes resource name
 * @param replicas how often the partition is offered; 1 without sharing
 * @param health what its health in the kubelet's list follows from
 */
public record OfferedDevice(String id, Gpu gpu, GpuPartition partition, String resource, int replicas, Health health) {
    /**
     * The daemon's judgement and the central verdict, kept apart: the device is Healthy only where both allow it.
     *
     * @param locallyHealthy whether no local fault withdraws the device
     * @param overlayAllows whether the verdict allows it
     * @param leaving the node no longer has the device; it stays listed while a container may hold it
     * @param reason why it is not Healthy, one line; empty when it is
     */
    public record Health(boolean locallyHealthy, boolean overlayAllows, boolean leaving, String reason) {}

    /** Whether the device is Healthy in the kubelet's list. */
    public boolean healthy() {
        return health.locallyHealthy() && health.overlayAllows() && !health.leaving();
    }

    /** UUID of the partition, without the number of the replica. */
    public String deviceUuid() {
        return partition.uuid(gpu);
    }

    /** Returns the same device, leaving the list. */
    OfferedDevice leaving(String why) {
        return new OfferedDevice(
                id,
                gpu,
                partition,
                resource,
                replicas,
                new Health(health.locallyHealthy(), health.overlayAllows(), true, why));
    }

    /** Whether both are devices of one GPU and resource with equal health. */
    boolean sameStateAs(OfferedDevice other) {
        return gpu.uuid().equals(other.gpu.uuid()) && resource.equals(other.resource) && health.equals(other.health);
    }
}
