package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import java.nio.file.Path;
import java.util.Set;

/**
 * Sources of settings, and settings of the daemon's own environment, which overwrite all others.
 *
 * @param node name of the Node
 * @param file NVIDIA's configuration file; empty if there is none
 * @param directory directory of several of them with {@code select.yaml}; empty if there is none
 * @param stateDirectory directory in which the value of the Node's label is saved
 * @param driverRoot default directory of the driver on the host
 * @param deviceListStrategies how Allocate injects devices; empty to use the files' value
 */
public record SettingsSources(
        String node,
        String file,
        String directory,
        Path stateDirectory,
        String driverRoot,
        Set<DeviceListStrategy> deviceListStrategies) {
    /** Copies the set. */
    public SettingsSources {
        deviceListStrategies = Set.copyOf(deviceListStrategies);
    }
}
