package io.gpufleet.bench.daemon;

import io.gpufleet.cli.pack.FakeNvmlLibrary;
import io.gpufleet.cli.pack.NvmlDaemonSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A measured device plugin: command and settings. */
sealed interface MeasuredPlugin {
    /** Column of its measurements. */
    String name();

    /** The command. */
    List<String> command();

    /** Its settings, added to the environment of this process. */
    Map<String, String> environment(FakeNvmlLibrary nvml, BenchKubelet kubelet, Path state);

    /**
     * The daemon of this tree.
     *
     * @param name column of its measurements
     * @param command command line
     * @param flags JVM flags, for a command that reads JAVA_FLAGS
     * @param kafka bootstrap servers
     * @param httpPort port of its metrics; 0 takes a free one
     */
    record GpufleetDaemon(String name, List<String> command, String flags, String kafka, int httpPort)
            implements MeasuredPlugin {
        static final String TOPIC_PREFIX = "bench.";

        /** Copies the command. */
        public GpufleetDaemon {
            command = List.copyOf(command);
        }

        /** The same daemon while no broker answers. */
        GpufleetDaemon withoutBroker(int freeHttpPort) {
            return new GpufleetDaemon(name + "-no-broker", command, flags, "127.0.0.1:1", freeHttpPort);
        }

        @Override
        public Map<String, String> environment(FakeNvmlLibrary nvml, BenchKubelet kubelet, Path state) {
            var settings = new TreeMap<>(
                    NvmlDaemonSettings.of(nvml, kubelet.pluginDirectory(), kubelet.podResourcesSocket(), state, kafka));
            settings.put("JAVA_FLAGS", flags);
            settings.put("GPUFLEET_TOPIC_PREFIX", TOPIC_PREFIX);
            settings.put("GPUFLEET_HTTP_PORT", Integer.toString(httpPort));
            return settings;
        }
    }

    /**
     * Any other plugin, started by a shell command. Its environment has the paths under the names that NVIDIA's plugin
     * reads and as DEVICE_PLUGIN_DIR and NVML_LIBRARY, and the number of GPUs as GPUS.
     */
    record OtherPlugin(String shellCommand) implements MeasuredPlugin {
        @Override
        public String name() {
            return "plugin";
        }

        @Override
        public List<String> command() {
            // exec, so that the measured process is the plugin and not a shell.
            return List.of("/bin/sh", "-c", "exec " + shellCommand);
        }

        @Override
        public Map<String, String> environment(FakeNvmlLibrary nvml, BenchKubelet kubelet, Path state) {
            return Map.of(
                    "DEVICE_PLUGIN_DIR", kubelet.pluginDirectory().toString(),
                    "KUBELET_SOCKET",
                            kubelet.pluginDirectory().resolve("kubelet.sock").toString(),
                    "NVIDIA_DRIVER_ROOT", nvml.driverRoot().toString(),
                    "DRIVER_ROOT_CTR_PATH", nvml.driverRoot().toString(),
                    "NVML_LIBRARY", nvml.library().toString(),
                    "LD_LIBRARY_PATH", String.valueOf(nvml.library().getParent()),
                    "GPUS", Integer.toString(nvml.gpus()));
        }
    }
}
