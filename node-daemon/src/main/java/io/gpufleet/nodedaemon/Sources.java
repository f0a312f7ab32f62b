package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.disk.Host;
import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import io.gpufleet.nodedaemon.nvml.NvmlSettings;
import io.gpufleet.nodedaemon.nvml.NvmlSource;
import io.gpufleet.nodedaemon.settings.SettingsPlaces;
import io.gpufleet.nodedaemon.simulated.SimulatedSource;
import java.time.Clock;
import java.util.EnumSet;

/** What depends on where the devices come from, chosen by name. */
final class Sources {
    private Sources() {}

    static DeviceSource open(DaemonConfig.Devices devices, String node) {
        if (devices.source().startsWith("simulated:")) {
            return SimulatedSource.open(node, devices.source(), devices.faults(), Clock.systemUTC());
        }
        if (devices.source().equals("nvml")) {
            return new NvmlSource(
                    NvmlSettings.of(devices.nvmlLibrary(), devices.driverRoot()).within(devices.nvmlDeadline()));
        }
        throw new ConfigurationException("GPUFLEET_DEVICES='" + devices.source()
                + "' is not usable: it takes nvml, or simulated:<count>x<model>, for example simulated:8xH100");
    }

    static SettingsPlaces places(DaemonConfig config) {
        var strategies = EnumSet.noneOf(Strategy.class);
        config.kubelet().strategies().forEach(word -> Strategy.of(word).ifPresent(strategies::add));
        return new SettingsPlaces(
                config.kafka().node(),
                config.choice().file(),
                config.choice().directory(),
                config.state().stateDirectory(),
                config.devices().driverRoot().toString(),
                strategies);
    }

    static Allocator allocator(PluginSettings settings, String source) {
        return new Allocator(
                settings, HostNodes.of(source.equals("simulated") ? Host.usualControlNodes() : Host.controlNodes()));
    }
}
