package io.gpufleet.bench.projection;

import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.runtime.bus.BusConfig;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The service with a projection that does almost nothing, as a process: libraries and arguments of the virtual machine are
 * those of a health-service.
 */
final class FloorProcess {
    /** Readers of its changelog know the writer by this name. */
    static final String NAME = "health-service";

    static final String PORT = "GPUFLEET_HTTP_PORT";

    private static final String MAIN_CLASS = "io.gpufleet.bench.projection.FloorMain";
    private static final String CLASS_PATH = "-cp";

    private FloorProcess() {}

    /** Settings of the program. */
    static List<Setting> settings() {
        return Stream.concat(
                        BusConfig.settings(NAME + "-0").stream(),
                        Stream.of(Setting.required(PORT, "port of the HTTP server")))
                .toList();
    }

    /** The same place in the fleet: name of the replica, broker and port. */
    static PlannedProcess planned(PlannedProcess health) {
        var known = settings().stream().map(Setting::name).collect(Collectors.toSet());
        Map<String, String> environment = health.environment().entrySet().stream()
                .filter(setting -> known.contains(setting.getKey()))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        return new PlannedProcess("floor", health.program(), environment, health.ports());
    }

    /** The command line of the health-service with another main class; class data fit a class path that is only longer. */
    static List<String> command(ProcessLauncher launcher, PlannedProcess health) {
        List<String> command = new ArrayList<>(launcher.command(health));
        int classPath = command.indexOf(CLASS_PATH) + 1;
        command.set(classPath, command.get(classPath) + File.pathSeparator + ownClasses());
        command.set(command.size() - 1, MAIN_CLASS);
        return command;
    }

    private static Path ownClasses() {
        try {
            return Path.of(FloorProcess.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
