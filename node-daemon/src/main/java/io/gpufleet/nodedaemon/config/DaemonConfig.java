package io.gpufleet.nodedaemon.config;

import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.nodedaemon.model.KubeletManners;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * How the daemon is configured.
 *
 * @param kafka the bus
 * @param devices where devices come from
 * @param kubelet how the kubelet is met
 * @param choice where an operator's settings stand
 * @param containers where things are that containers get
 * @param state what is kept where
 * @param timing how often and how long
 * @param httpHost address of the HTTP server
 * @param httpPort its port; 0 takes a free one
 */
public record DaemonConfig(
        Kafka kafka,
        Devices devices,
        Kubelet kubelet,
        Choice choice,
        Containers containers,
        State state,
        Timing timing,
        String httpHost,
        int httpPort) {
    private static final int MAX_NODE_NAME = 253;
    private static final List<String> STRATEGIES =
            List.of("envvar", "volume-mounts", "cdi-annotations", "cdi-cri", "host-mounts");

    /**
     * The bus.
     *
     * @param ignoreVerdictsFile while it is there, no verdict is obeyed
     */
    public record Kafka(
            String bootstrap,
            String cluster,
            String topicPrefix,
            String node,
            boolean obeyVerdicts,
            Path ignoreVerdictsFile) {}

    /**
     * Where devices come from.
     *
     * @param source {@code nvml}, {@code simulated:…} or {@code recording:…}
     * @param nvmlLibrary path of libnvidia-ml.so.1; empty text: searched below the driver root
     * @param driverRoot directory of the driver on the host
     * @param nvmlDeadline after which an NVML call is taken for hung
     * @param hostRoot where this process sees the host's root directory
     * @param simulationDirectory where fault files of simulated GPUs are; empty text: there are none
     * @param processes where the kernel tells of the node's processes
     * @param kernelLog the kernel log to read, {@code off}, or {@code auto}: the host's, unless the GPUs are simulated
     */
    public record Devices(
            String source,
            String nvmlLibrary,
            Path driverRoot,
            Duration nvmlDeadline,
            Path hostRoot,
            String simulationDirectory,
            Path processes,
            String kernelLog) {
        /** Where this process sees the driver root. */
        public Path seenDriverRoot() {
            return hostRoot.resolve(Path.of("/").relativize(driverRoot.toAbsolutePath()));
        }

        /** The kernel log to read; empty where none is to be. */
        public Optional<Path> kernelMessages() {
            return switch (kernelLog) {
                case "off" -> Optional.empty();
                case "auto" -> source.startsWith("nvml") ? Optional.of(Path.of("/dev/kmsg")) : Optional.empty();
                default -> Optional.of(Path.of(kernelLog));
            };
        }

        /** Where fault files are. */
        public Optional<Path> faults() {
            return simulationDirectory.isEmpty() ? Optional.empty() : Optional.of(Path.of(simulationDirectory));
        }
    }

    /** How the kubelet is met. */
    public record Kubelet(
            Path devicePluginDirectory,
            Path pluginsRegistry,
            KubeletManners manners,
            Path podResourcesSocket,
            Set<String> strategies) {
        /** Copies the set. */
        public Kubelet {
            strategies = Set.copyOf(strategies);
        }
    }

    /**
     * Where an operator's settings stand.
     *
     * @param file configuration file of NVIDIA's plugin; empty text: there is none
     * @param directory of several of them, with select.yaml; empty text: there is none
     */
    public record Choice(String file, String directory) {}

    /**
     * Where things are that containers get.
     *
     * @param devRoot directory of the host whose {@code /dev} has the GPUs' nodes; empty text: found
     * @param cdiDirectory where container runtimes read CDI specs
     */
    public record Containers(String devRoot, Path cdiDirectory) {}

    /** What is kept where. */
    public record State(Path stateDirectory, Path runDirectory, long outboxBytes, Path bootIdFile) {}

    /** How often and how long. */
    public record Timing(Duration recoveryDwell, Duration telemetryInterval) {}

    /** Every setting, for checks and for {@code --help}. */
    public static final List<Setting> SETTINGS = List.of(
            Setting.required("GPUFLEET_CLUSTER", "name of the cluster, part of every event"),
            Setting.required("GPUFLEET_KAFKA", "Kafka's bootstrap servers, host:port,…"),
            Setting.required("GPUFLEET_NODE", "name of the Node that this daemon runs on"),
            Setting.optional("GPUFLEET_TOPIC_PREFIX", "gpu.", "prefix of the fleet's topics"),
            Setting.optional("GPUFLEET_LOG_FORMAT", "text", "text or json"),
            Setting.optional("GPUFLEET_LOG_LEVEL", "INFO", "ERROR, WARN, INFO, DEBUG or TRACE"),
            Setting.optional("GPUFLEET_HTTP_HOST", "0.0.0.0", "address of /livez, /readyz and /metrics"),
            Setting.optional("GPUFLEET_HTTP_PORT", "9400", "their port; 0 takes a free one"),
            Setting.optional(
                    "GPUFLEET_DEVICES",
                    "nvml",
                    "where devices come from: nvml, simulated:8xH100, simulated:2xA100:mig=7x1g.5gb, or recording:FILE[:loop]"),
            Setting.optional(
                    "GPUFLEET_NVML_LIBRARY", "", "path of libnvidia-ml.so.1 when it is not below the driver root"),
            Setting.optional("GPUFLEET_DRIVER_ROOT", "/", "directory of the driver on the host"),
            Setting.optional("GPUFLEET_NVML_DEADLINE", "20s", "after which an NVML call is taken for hung"),
            Setting.optional(
                    "GPUFLEET_SIMULATION_DIR", "", "directory of <gpu index>.xid files: faults of simulated GPUs"),
            Setting.optional(
                    "GPUFLEET_PROC_DIR",
                    "/proc",
                    "where the processes of the node are seen; in a pod with hostPID, /proc"),
            Setting.optional(
                    "GPUFLEET_KMSG",
                    "auto",
                    "kernel log that tells of XIDs: a path, off, or auto (/dev/kmsg unless GPUs are simulated)"),
            Setting.optional(
                    "GPUFLEET_DEVICE_PLUGIN_DIR", "/var/lib/kubelet/device-plugins", "the kubelet's directory"),
            Setting.optional(
                    "GPUFLEET_DEVICE_PLUGIN",
                    "auto",
                    "register with the kubelet: on, off (observe only), or auto: unless another plugin is alive"),
            Setting.optional(
                    "GPUFLEET_KUBELET_REGISTRATION",
                    "device-plugins",
                    "by which of the kubelet's directories: device-plugins or plugins-registry"),
            Setting.optional(
                    "GPUFLEET_PLUGINS_REGISTRY_DIR",
                    "/var/lib/kubelet/plugins_registry",
                    "the kubelet's directory of watched sockets, for plugins-registry"),
            Setting.optional(
                    "GPUFLEET_POD_RESOURCES_SOCKET",
                    "/var/lib/kubelet/pod-resources/kubelet.sock",
                    "the kubelet's podresources socket"),
            Setting.optional(
                    "GPUFLEET_DEVICE_LIST_STRATEGY",
                    "",
                    "how Allocate answers: envvar, volume-mounts, cdi-annotations, cdi-cri, host-mounts, several by commas;"
                            + " envvar where NVIDIA's settings say nothing"),
            Setting.optional("GPUFLEET_CONFIG_FILE", "", "configuration file of NVIDIA's plugin; reloaded on change"),
            Setting.optional(
                    "GPUFLEET_CONFIG_DIR", "", "directory of several of them, with select.yaml; for the Node's label"),
            Setting.optional("GPUFLEET_CDI_DIR", "/var/run/cdi", "where container runtimes read CDI specs"),
            Setting.optional(
                    "GPUFLEET_DEV_ROOT",
                    "",
                    "directory of the host whose dev/ has the GPUs' nodes; empty: the driver root where it has them"),
            Setting.optional("GPUFLEET_HOST_ROOT", "/", "where this process sees the host's root directory"),
            Setting.optional("GPUFLEET_STATE_DIR", "/var/lib/gpufleet", "what is kept over a restart"),
            Setting.optional("GPUFLEET_RUN_DIR", "/run/gpufleet", "what is shared with installers on the node"),
            Setting.optional("GPUFLEET_OUTBOX_BYTES", "67108864", "how many bytes of events may wait for Kafka"),
            Setting.optional("GPUFLEET_BOOT_ID_FILE", "/proc/sys/kernel/random/boot_id", "where the boot id stands"),
            Setting.optional(
                    "GPUFLEET_RECOVERY_DWELL", "5m", "how long a fault must be gone before its device comes back"),
            Setting.optional("GPUFLEET_TELEMETRY_INTERVAL", "10s", "how often devices are sampled"),
            Setting.optional(
                    "GPUFLEET_IGNORE_VERDICTS_FILE",
                    "/etc/gpufleet/ignore-verdicts",
                    "break-glass: while this file is there, verdicts are only recorded"),
            Setting.optional("GPUFLEET_VERDICTS", "obey", "obey the health-service's verdicts, or only record them"));

    /** The same settings, none of them required. */
    public static final List<Setting> PROBE_SETTINGS = SETTINGS.stream()
            .map(setting -> Setting.optional(setting.name(), setting.fallback(), setting.about()))
            .toList();

    /** Reads the environment; a bad value is answered in one line. */
    public static DaemonConfig from(Environment environment) {
        environment.choice("GPUFLEET_LOG_FORMAT", "text", "json");
        environment.choice("GPUFLEET_LOG_LEVEL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE");
        return new DaemonConfig(
                kafka(environment),
                devices(environment),
                new Kubelet(
                        environment.path("GPUFLEET_DEVICE_PLUGIN_DIR"),
                        environment.path("GPUFLEET_PLUGINS_REGISTRY_DIR"),
                        manners(environment),
                        environment.path("GPUFLEET_POD_RESOURCES_SOCKET"),
                        strategies(environment)),
                new Choice(environment.text("GPUFLEET_CONFIG_FILE"), environment.text("GPUFLEET_CONFIG_DIR")),
                new Containers(devRoot(environment), environment.path("GPUFLEET_CDI_DIR")),
                new State(
                        environment.path("GPUFLEET_STATE_DIR"),
                        environment.path("GPUFLEET_RUN_DIR"),
                        environment.integer("GPUFLEET_OUTBOX_BYTES", 65_536, Integer.MAX_VALUE),
                        environment.path("GPUFLEET_BOOT_ID_FILE")),
                new Timing(
                        environment.duration("GPUFLEET_RECOVERY_DWELL"),
                        atLeast(environment, "GPUFLEET_TELEMETRY_INTERVAL", Duration.ofMillis(100))),
                environment.text("GPUFLEET_HTTP_HOST"),
                environment.integer("GPUFLEET_HTTP_PORT", 0, 65_535));
    }

    /** Where devices come from; all that a probe needs. */
    public static Devices devices(Environment environment) {
        return new Devices(
                environment.text("GPUFLEET_DEVICES"),
                environment.text("GPUFLEET_NVML_LIBRARY"),
                environment.path("GPUFLEET_DRIVER_ROOT"),
                atLeast(environment, "GPUFLEET_NVML_DEADLINE", Duration.ofMillis(100)),
                environment.path("GPUFLEET_HOST_ROOT"),
                environment.text("GPUFLEET_SIMULATION_DIR"),
                environment.path("GPUFLEET_PROC_DIR"),
                environment.text("GPUFLEET_KMSG"));
    }

    private static Kafka kafka(Environment environment) {
        String cluster = environment.text("GPUFLEET_CLUSTER");
        if (!cluster.matches("[A-Za-z0-9._-]{1,128}")) {
            throw environment.wrong("GPUFLEET_CLUSTER", "1 to 128 letters, digits, dots, dashes and underscores");
        }
        String node = environment.text("GPUFLEET_NODE");
        if (node.length() > MAX_NODE_NAME || !node.matches("[a-z0-9]([-a-z0-9.]*[a-z0-9])?")) {
            throw environment.wrong("GPUFLEET_NODE", "the name of a Kubernetes Node");
        }
        String bootstrap = environment.text("GPUFLEET_KAFKA");
        for (String server : bootstrap.split(",", -1)) {
            if (!server.strip().matches(".+:\\d{1,5}")) {
                throw environment.wrong("GPUFLEET_KAFKA", "host:port, several separated by commas");
            }
        }
        String prefix = environment.text("GPUFLEET_TOPIC_PREFIX");
        if (!prefix.matches("[a-zA-Z0-9._-]{1,64}")) {
            throw environment.wrong(
                    "GPUFLEET_TOPIC_PREFIX", "1 to 64 letters, digits, dots, dashes and underscores, for example gpu.");
        }
        return new Kafka(
                bootstrap,
                cluster,
                prefix,
                node,
                environment.choice("GPUFLEET_VERDICTS", "obey", "record").equals("obey"),
                environment.path("GPUFLEET_IGNORE_VERDICTS_FILE"));
    }

    private static KubeletManners manners(Environment environment) {
        return new KubeletManners(
                KubeletManners.Plugin.valueOf(environment
                        .choice("GPUFLEET_DEVICE_PLUGIN", "auto", "on", "off")
                        .toUpperCase(Locale.ROOT)),
                switch (environment.choice("GPUFLEET_KUBELET_REGISTRATION", "device-plugins", "plugins-registry")) {
                    case "plugins-registry" -> KubeletManners.Way.PLUGINS_REGISTRY;
                    default -> KubeletManners.Way.DEVICE_PLUGINS;
                });
    }

    private static String devRoot(Environment environment) {
        String root = environment.text("GPUFLEET_DEV_ROOT");
        if (!root.isEmpty() && !root.startsWith("/")) {
            throw environment.wrong("GPUFLEET_DEV_ROOT", "an absolute path");
        }
        return root;
    }

    private static Set<String> strategies(Environment environment) {
        var words = new TreeSet<String>();
        if (environment.text("GPUFLEET_DEVICE_LIST_STRATEGY").isEmpty()) {
            return words;
        }
        for (String word : environment.text("GPUFLEET_DEVICE_LIST_STRATEGY").split(",", -1)) {
            if (!STRATEGIES.contains(word.strip())) {
                throw environment.wrong("GPUFLEET_DEVICE_LIST_STRATEGY", "one or several of " + STRATEGIES);
            }
            words.add(word.strip());
        }
        return words;
    }

    private static Duration atLeast(Environment environment, String name, Duration least) {
        Duration value = environment.duration(name);
        if (value.compareTo(least) < 0) {
            throw environment.wrong(name, "a duration of at least " + least.toMillis() + "ms");
        }
        return value;
    }
}
