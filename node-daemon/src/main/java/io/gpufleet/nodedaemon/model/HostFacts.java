package io.gpufleet.nodedaemon.model;

import java.time.Duration;

/**
 * What the node is, apart from its devices.
 *
 * @param daemonVersion version of this program
 * @param deviceSource where devices come from: {@code nvml} or {@code simulated}
 * @param kernelVersion as {@code uname -r} prints it
 * @param machine DMI product name; empty when unknown
 * @param bootId of this boot
 * @param uptime how long the machine had been up when it was read
 */
public record HostFacts(
        String daemonVersion,
        String deviceSource,
        String kernelVersion,
        String machine,
        String bootId,
        Duration uptime) {}
