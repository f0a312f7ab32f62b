package io.gpufleet.nodedaemon.model.device;

/**
 * The driver of the hypervisor's host, below a virtual GPU.
 *
 * @param driverVersion for example {@code 525.60}
 * @param driverBranch for example {@code r525_00}
 */
public record VgpuHost(String driverVersion, String driverBranch) {}
