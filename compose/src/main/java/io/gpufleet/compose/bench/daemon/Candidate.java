package io.gpufleet.compose.bench.daemon;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A device plugin that is measured: how it is started, and with which settings. */
sealed interface Candidate {
    /** The column of its figures. */
    String name();

    /** What to run. */
    List<String> command();

    /** Its settings, added to the environment of this process. */
    Map<String, String> environment(Hardware hardware, BenchKubelet kubelet, Path state);

    /**
     * The daemon of this tree.
     *
     * @param command starts it
     * @param flags for its virtual machine, where the command heeds JAVA_FLAGS
     * @param kafka bootstrap servers
     * @param httpPort where it serves its metrics; 0 takes a free one
     */
    record Ours(List<String> command, String flags, String kafka, int httpPort) implements Candidate {
        /** Copies the command. */
        public Ours {
            command = List.copyOf(command);
        }

        @Override
        public String name() {
            return "gpufleet";
        }

        @Override
        public Map<String, String> environment(Hardware hardware, BenchKubelet kubelet, Path state) {
            var settings = new TreeMap<String, String>();
            settings.put("JAVA_FLAGS", flags);
            settings.put("GPUFLEET_CLUSTER", "bench");
            settings.put("GPUFLEET_NODE", "bench-node");
            settings.put("GPUFLEET_KAFKA", kafka);
            settings.put("GPUFLEET_TOPIC_PREFIX", DaemonBenchmark.PREFIX);
            settings.put("GPUFLEET_DEVICES", "nvml");
            settings.put("GPUFLEET_DRIVER_ROOT", hardware.driverRoot().toString());
            settings.put("GPUFLEET_DEVICE_PLUGIN_DIR", kubelet.pluginDirectory().toString());
            settings.put(
                    "GPUFLEET_POD_RESOURCES_SOCKET",
                    kubelet.podResourcesSocket().toString());
            settings.put("GPUFLEET_STATE_DIR", state.resolve("state").toString());
            settings.put("GPUFLEET_RUN_DIR", state.resolve("run").toString());
            settings.put("GPUFLEET_HTTP_HOST", "127.0.0.1");
            settings.put("GPUFLEET_HTTP_PORT", Integer.toString(httpPort));
            return settings;
        }
    }

    /**
     * Any other plugin, named by a shell command. It finds the paths in its environment, under the names that NVIDIA's
     * plugin reads and under DEVICE_PLUGIN_DIR and NVML_LIBRARY; GPUS is how many there are.
     */
    record Foreign(String line) implements Candidate {
        @Override
        public String name() {
            return "plugin";
        }

        @Override
        public List<String> command() {
            // exec, so that the process that is measured and ended is the plugin and not a shell.
            return List.of("/bin/sh", "-c", "exec " + line);
        }

        @Override
        public Map<String, String> environment(Hardware hardware, BenchKubelet kubelet, Path state) {
            return Map.of(
                    "DEVICE_PLUGIN_DIR", kubelet.pluginDirectory().toString(),
                    "KUBELET_SOCKET",
                            kubelet.pluginDirectory().resolve("kubelet.sock").toString(),
                    "NVIDIA_DRIVER_ROOT", hardware.driverRoot().toString(),
                    "DRIVER_ROOT_CTR_PATH", hardware.driverRoot().toString(),
                    "NVML_LIBRARY", hardware.library().toString(),
                    "LD_LIBRARY_PATH", String.valueOf(hardware.library().getParent()),
                    "GPUS", Integer.toString(hardware.gpus()));
        }
    }
}
