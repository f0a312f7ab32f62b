package io.gpufleet.nodedaemon.model.device;

import java.time.Duration;

/**
 * Properties of the node apart from its devices.
 *
 * @param daemonVersion version of this program
 * @param deviceSource where devices come from: {@code nvml} or {@code simulated}
 * @param kernelVersion as {@code uname -r} prints it
 * @param machine DMI product name; empty when unknown
 * @param bootId of this boot
 * @param uptime of the machine when it was read
 */
public record HostInfo(
        String daemonVersion,
        String deviceSource,
        String kernelVersion,
        String machine,
        String bootId,
        Duration uptime) {}
