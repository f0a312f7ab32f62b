package io.gpufleet.nodedaemon.model;

/**
 * What the node is, apart from its devices.
 *
 * @param daemonVersion version of this program
 * @param deviceSource where devices come from: {@code nvml} or {@code simulated}
 * @param kernelVersion as {@code uname -r} prints it
 * @param machine DMI product name; empty when unknown
 * @param bootId of this boot
 */
public record HostFacts(
        String daemonVersion, String deviceSource, String kernelVersion, String machine, String bootId) {}
