package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuPod;

/**
 * A pod to be decided on.
 *
 * @param dryRun whether the pod will not be created: it is decided on and nothing is reserved
 */
public record AdmissionRequest(GpuPod pod, boolean dryRun) {}
