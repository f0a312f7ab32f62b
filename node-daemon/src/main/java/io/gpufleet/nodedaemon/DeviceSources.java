package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.app.NodeLoopInput;
import io.gpufleet.nodedaemon.app.device.CdiPreparingSource;
import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.app.device.HostDeviceNodeFinder;
import io.gpufleet.nodedaemon.app.device.ProcessAttributingSource;
import io.gpufleet.nodedaemon.cdi.CdiSpecFile;
import io.gpufleet.nodedaemon.cdi.HostDriverFiles;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.host.DevRootDeviceNodeFinder;
import io.gpufleet.nodedaemon.host.ProcfsProcessOwnerLookup;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.HostPaths;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
import io.gpufleet.nodedaemon.nvml.NvmlSettings;
import io.gpufleet.nodedaemon.nvml.NvmlSource;
import io.gpufleet.nodedaemon.nvml.binding.Mknod;
import io.gpufleet.nodedaemon.pluginconfig.SettingsSources;
import io.gpufleet.nodedaemon.simulated.SimulatedSource;
import io.gpufleet.nodedaemon.simulated.recording.ReplaySource;
import io.gpufleet.nodedaemon.sysfs.SysfsPciDevices;
import java.nio.file.Path;
import java.time.Clock;
import java.util.EnumSet;
import java.util.function.Consumer;

/** Creates the device source by its name, and the parts that depend on it. */
final class DeviceSources {
    private DeviceSources() {}

    static DeviceSource open(DaemonConfig.DeviceConfig devices, String node) {
        if (devices.source().startsWith("simulated:")) {
            return SimulatedSource.open(node, devices.source(), devices.faultDirectory(), Clock.systemUTC());
        }
        if (devices.source().startsWith(ReplaySource.PREFIX)) {
            return ReplaySource.open(devices.source(), System::nanoTime);
        }
        if (devices.source().equals("nvml")) {
            var nvml = new NvmlSource(
                    NvmlSettings.of(devices.nvmlLibrary(), devices.localDriverRoot())
                            .withDeadline(devices.nvmlDeadline()),
                    new SysfsPciDevices(devices.host().sys(), Path.of("/proc/driver/nvidia")));
            return new ProcessAttributingSource(
                    nvml, new ProcfsProcessOwnerLookup(devices.host().proc()));
        }
        throw new ConfigurationException("GPUFLEET_DEVICES='" + devices.source()
                + "' is not usable: it takes nvml, simulated:<count>x<model>, for example simulated:8xH100, or"
                + " recording:FILE");
    }

    static SettingsSources settingsSources(DaemonConfig config) {
        var strategies = EnumSet.noneOf(DeviceListStrategy.class);
        config.kubelet()
                .deviceListStrategies()
                .forEach(name -> DeviceListStrategy.of(name).ifPresent(strategies::add));
        return new SettingsSources(
                config.kafka().node(),
                config.pluginConfig().file(),
                config.pluginConfig().directory(),
                config.state().stateDirectory(),
                config.devices().driverRoot().toString(),
                strategies);
    }

    static AllocationTableFactory allocator(PluginSettings settings) {
        return new AllocationTableFactory(settings, HostDeviceNodes.NONE);
    }

    /** Wraps the source so that the host is prepared for the devices of each scan before they are offered. */
    static CdiPreparingSource preparingSource(
            DeviceSource source, DaemonConfig config, SettingsSelector selector, Consumer<NodeLoopInput> inbox) {
        var hostPaths = new HostPaths(
                config.devices().host().root().toString(), config.containers().devRoot());
        boolean simulated =
                source.name().equals("simulated") && hostPaths.devRoot().isEmpty();
        HostDeviceNodeFinder deviceNodes = simulated
                ? _ -> DevRootDeviceNodeFinder.defaults()
                : new DevRootDeviceNodeFinder(hostPaths, Mknod::make);
        var specs = new CdiSpecFile(config.containers().cdiDirectory(), hostPaths);
        return new CdiPreparingSource(source, deviceNodes, specs, new HostDriverFiles(hostPaths), selector, inbox);
    }
}
