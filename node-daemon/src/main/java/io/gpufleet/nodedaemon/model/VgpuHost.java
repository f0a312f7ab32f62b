package io.gpufleet.nodedaemon.model;

/**
 * The driver under a virtual GPU, which is that of the hypervisor's host.
 *
 * @param driverVersion for example {@code 525.60}
 * @param driverBranch for example {@code r525_00}
 */
public record VgpuHost(String driverVersion, String driverBranch) {}
