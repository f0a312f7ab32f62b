package io.gpufleet.cli.pack;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Settings of a node-daemon that runs on the {@link FakeNvmlLibrary}. */
public final class NvmlDaemonSettings {
    private NvmlDaemonSettings() {}

    /** The settings, without topic prefix and HTTP port; the daemon keeps its state below a directory. */
    public static Map<String, String> of(
            FakeNvmlLibrary nvml, Path devicePlugins, Path podResources, Path directory, String kafka) {
        var settings = new TreeMap<String, String>();
        settings.put("GPUFLEET_CLUSTER", "bench");
        settings.put("GPUFLEET_NODE", "bench-node");
        settings.put("GPUFLEET_KAFKA", kafka);
        settings.put("GPUFLEET_DEVICES", "nvml");
        settings.put("GPUFLEET_DRIVER_ROOT", nvml.driverRoot().toString());
        settings.put("GPUFLEET_SYS_DIR", nvml.sysfs().toString());
        settings.put("GPUFLEET_DEVICE_PLUGIN_DIR", devicePlugins.toString());
        settings.put("GPUFLEET_POD_RESOURCES_SOCKET", podResources.toString());
        settings.put("GPUFLEET_STATE_DIR", directory.resolve("state").toString());
        settings.put("GPUFLEET_RUN_DIR", directory.resolve("run").toString());
        settings.put("GPUFLEET_HTTP_HOST", "127.0.0.1");
        return settings;
    }
}
