package io.gpufleet.nodedaemon.model;

/**
 * One device as the kubelet would know it, whether it is fit or not.
 *
 * @param id UUID of the part; {@code <uuid>::<n>} where it is shared
 * @param known the physical GPU
 * @param part what of it
 * @param resource Kubernetes resource name
 * @param replicas how often the part is offered; 1 without sharing
 */
public record PlannedDevice(String id, KnownGpu known, Part part, String resource, int replicas) {}
