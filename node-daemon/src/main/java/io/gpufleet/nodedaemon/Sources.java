package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.app.AttributedSource;
import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.app.HostSurvey;
import io.gpufleet.nodedaemon.app.Input;
import io.gpufleet.nodedaemon.app.PreparedLooks;
import io.gpufleet.nodedaemon.cdi.SpecFile;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.disk.DeviceNodes;
import io.gpufleet.nodedaemon.disk.ProcFiles;
import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.HostPlaces;
import io.gpufleet.nodedaemon.model.SettingsChoice;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import io.gpufleet.nodedaemon.nvml.NvmlSettings;
import io.gpufleet.nodedaemon.nvml.NvmlSource;
import io.gpufleet.nodedaemon.settings.SettingsPlaces;
import io.gpufleet.nodedaemon.simulated.SimulatedSource;
import io.gpufleet.nodedaemon.simulated.recording.RecordedSource;
import java.time.Clock;
import java.util.EnumSet;
import java.util.function.Consumer;

/** What depends on where the devices come from, chosen by name. */
final class Sources {
    private Sources() {}

    static DeviceSource open(DaemonConfig.Devices devices, String node) {
        if (devices.source().startsWith("simulated:")) {
            return SimulatedSource.open(node, devices.source(), devices.faults(), Clock.systemUTC());
        }
        if (devices.source().startsWith(RecordedSource.PREFIX)) {
            return RecordedSource.open(devices.source(), System::nanoTime);
        }
        if (devices.source().equals("nvml")) {
            var nvml = new NvmlSource(NvmlSettings.of(devices.nvmlLibrary(), devices.seenDriverRoot())
                    .within(devices.nvmlDeadline()));
            return new AttributedSource(nvml, new ProcFiles(devices.processes()));
        }
        throw new ConfigurationException(
                "GPUFLEET_DEVICES='" + devices.source()
                        + "' is not usable: it takes nvml, simulated:<count>x<model>, for example simulated:8xH100, or recording:FILE");
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

    static Allocator allocator(PluginSettings settings) {
        return new Allocator(settings, HostNodes.NONE);
    }

    /** Looks whose devices containers can be given: the host is prepared for them first. */
    static PreparedLooks prepared(
            DeviceSource source, DaemonConfig config, SettingsChoice choice, Consumer<Input> inbox) {
        var places = new HostPlaces(
                config.devices().hostRoot().toString(), config.containers().devRoot());
        boolean imagined = source.name().equals("simulated") && places.devRoot().isEmpty();
        HostSurvey survey = imagined ? _ -> DeviceNodes.usual() : new DeviceNodes(places);
        var specs = new SpecFile(config.containers().cdiDirectory(), places);
        return new PreparedLooks(source, survey, specs, choice, inbox);
    }
}
