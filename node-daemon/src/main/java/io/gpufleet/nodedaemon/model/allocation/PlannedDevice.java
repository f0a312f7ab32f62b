package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.device.KnownGpu;

/**
 * One device to offer, regardless of its health.
 *
 * @param id UUID of the partition; {@code <uuid>::<n>} for a replica
 * @param known the physical GPU
 * @param partition the whole GPU or one MIG instance
 * @param resource Kubernetes resource name
 * @param replicas how often the partition is offered; 1 without sharing
 */
public record PlannedDevice(String id, KnownGpu known, GpuPartition partition, String resource, int replicas) {}
