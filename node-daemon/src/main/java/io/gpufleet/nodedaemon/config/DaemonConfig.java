package io.gpufleet.nodedaemon.config;

import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The configuration of the daemon.
 *
 * @param kafka Kafka and verdicts
 * @param devices source of devices
 * @param kubelet paths and settings of the kubelet
 * @param pluginConfig files with an operator's settings
 * @param containers paths for injection into containers
 * @param state directories and sizes of files
 * @param timing intervals and durations
 * @param http the HTTP server
 */
public record DaemonConfig(
        KafkaConfig kafka,
        DeviceConfig devices,
        KubeletConfig kubelet,
        PluginConfigFiles pluginConfig,
        ContainerConfig containers,
        StorageConfig state,
        TimingConfig timing,
        HttpConfig http) {
    private static final int MAX_NODE_NAME = 253;
    private static final List<String> STRATEGIES =
            List.of("envvar", "volume-mounts", "cdi-annotations", "cdi-cri", "host-mounts");

    /**
     * Kafka and verdicts.
     *
     * @param clientProperties path of a Kafka client properties file, or empty
     * @param ignoreVerdictsFile while it exists, no verdict is applied
     */
    public record KafkaConfig(
            String bootstrap,
            String clientProperties,
            String cluster,
            String topicPrefix,
            String node,
            boolean applyVerdicts,
            Path ignoreVerdictsFile) {}

    /**
     * Paths of the host in this process.
     *
     * @param root its root directory
     * @param proc procfs with its processes
     * @param sys sysfs with its PCI devices
     */
    public record HostView(Path root, Path proc, Path sys) {}

    /**
     * The source of devices.
     *
     * @param source {@code nvml}, {@code simulated:…} or {@code recording:…}
     * @param nvmlLibrary path of libnvidia-ml.so.1; empty to search below the driver root
     * @param driverRoot directory of the driver on the host
     * @param nvmlDeadline timeout after which an NVML call counts as hung
     * @param host where this process sees the host
     * @param simulationDirectory directory of fault files of simulated GPUs; empty if there is none
     * @param kernelLog the kernel log to read, {@code off}, or {@code auto}: the host's if the source is {@code nvml}
     */
    public record DeviceConfig(
            String source,
            String nvmlLibrary,
            Path driverRoot,
            Duration nvmlDeadline,
            HostView host,
            String simulationDirectory,
            String kernelLog) {
        /** Path of the driver root in this process. */
        public Path localDriverRoot() {
            return host.root().resolve(Path.of("/").relativize(driverRoot.toAbsolutePath()));
        }

        /** The kernel log to read, if any. */
        public Optional<Path> kernelLogFile() {
            return switch (kernelLog) {
                case "off" -> Optional.empty();
                case "auto" -> source.startsWith("nvml") ? Optional.of(Path.of("/dev/kmsg")) : Optional.empty();
                default -> Optional.of(Path.of(kernelLog));
            };
        }

        /** The directory of fault files, if any. */
        public Optional<Path> faultDirectory() {
            return simulationDirectory.isEmpty() ? Optional.empty() : Optional.of(Path.of(simulationDirectory));
        }
    }

    /** Paths and settings of the kubelet. */
    public record KubeletConfig(
            Path devicePluginDirectory,
            Path pluginsRegistry,
            RegistrationSettings registration,
            Path podResourcesSocket,
            Set<String> deviceListStrategies) {
        /** Copies the set. */
        public KubeletConfig {
            deviceListStrategies = Set.copyOf(deviceListStrategies);
        }
    }

    /**
     * Files with an operator's settings.
     *
     * @param file configuration file of NVIDIA's plugin; empty if there is none
     * @param directory directory of several of them, with select.yaml; empty if there is none
     */
    public record PluginConfigFiles(String file, String directory) {}

    /**
     * Paths for injection into containers.
     *
     * @param devRoot directory of the host whose {@code dev/} has the GPUs' device nodes; empty to detect it
     * @param cdiDirectory directory of CDI specs
     */
    public record ContainerConfig(String devRoot, Path cdiDirectory) {}

    /**
     * The HTTP server.
     *
     * @param host its address
     * @param port its port; 0 chooses a free port
     */
    public record HttpConfig(String host, int port) {}

    /** Directories and sizes of files. */
    public record StorageConfig(Path stateDirectory, Path runDirectory, long outboxBytes, Path bootIdFile) {}

    /** Intervals and durations. */
    public record TimingConfig(Duration recoveryDwell, Duration telemetryInterval) {}

    /** Every setting, for validation and for {@code --help}. */
    public static final List<Setting> SETTINGS = List.of(
            Setting.required("GPUFLEET_CLUSTER", "name of the cluster, part of every event"),
            Setting.required("GPUFLEET_KAFKA", "Kafka's bootstrap servers, host:port,…"),
            Setting.optional(
                    "GPUFLEET_KAFKA_CONFIG",
                    "",
                    "Kafka client properties file with security.*, sasl.* and ssl.* settings"),
            Setting.required("GPUFLEET_NODE", "name of the Node that this daemon runs on"),
            Setting.optional("GPUFLEET_TOPIC_PREFIX", "gpu.", "prefix of the fleet's topics"),
            Setting.optional("GPUFLEET_LOG_FORMAT", "text", "text or json"),
            Setting.optional("GPUFLEET_LOG_LEVEL", "INFO", "ERROR, WARN, INFO, DEBUG or TRACE"),
            Setting.optional("GPUFLEET_HTTP_HOST", "0.0.0.0", "address of /livez, /readyz and /metrics"),
            Setting.optional("GPUFLEET_HTTP_PORT", "9400", "port of the HTTP server; 0 chooses a free port"),
            Setting.optional(
                    "GPUFLEET_DEVICES",
                    "nvml",
                    "source of devices: nvml, simulated:8xH100, simulated:2xA100:mig=7x1g.5gb, or recording:FILE[:loop]"),
            Setting.optional(
                    "GPUFLEET_NVML_LIBRARY", "", "path of libnvidia-ml.so.1 if it is not below the driver root"),
            Setting.optional("GPUFLEET_DRIVER_ROOT", "/", "directory of the driver on the host"),
            Setting.optional("GPUFLEET_NVML_DEADLINE", "20s", "timeout after which an NVML call counts as hung"),
            Setting.optional(
                    "GPUFLEET_SIMULATION_DIR", "", "directory of <gpu index>.xid files: faults of simulated GPUs"),
            Setting.optional(
                    "GPUFLEET_PROC_DIR", "/proc", "procfs with the node's processes; /proc in a pod with hostPID"),
            Setting.optional("GPUFLEET_SYS_DIR", "/sys", "sysfs with the node's PCI devices"),
            Setting.optional(
                    "GPUFLEET_KMSG",
                    "auto",
                    "kernel log with XIDs: a path, off, or auto (/dev/kmsg unless GPUs are simulated)"),
            Setting.optional(
                    "GPUFLEET_DEVICE_PLUGIN_DIR",
                    "/var/lib/kubelet/device-plugins",
                    "the kubelet's device-plugins directory"),
            Setting.optional(
                    "GPUFLEET_DEVICE_PLUGIN",
                    "auto",
                    "register with the kubelet: on, off (observe only), or auto: unless another plugin is alive"),
            Setting.optional(
                    "GPUFLEET_KUBELET_REGISTRATION",
                    "device-plugins",
                    "registration by device-plugins (a call to kubelet.sock) or plugins-registry (the plugin watcher)"),
            Setting.optional(
                    "GPUFLEET_PLUGINS_REGISTRY_DIR",
                    "/var/lib/kubelet/plugins_registry",
                    "the kubelet's plugins_registry directory, for plugins-registry"),
            Setting.optional(
                    "GPUFLEET_POD_RESOURCES_SOCKET",
                    "/var/lib/kubelet/pod-resources/kubelet.sock",
                    "the kubelet's podresources socket"),
            Setting.optional(
                    "GPUFLEET_DEVICE_LIST_STRATEGY",
                    "",
                    "how Allocate injects devices: envvar, volume-mounts, cdi-annotations, cdi-cri, host-mounts, several"
                            + " separated by commas; envvar if NVIDIA's settings have none either"),
            Setting.optional("GPUFLEET_CONFIG_FILE", "", "configuration file of NVIDIA's plugin; reloaded on change"),
            Setting.optional(
                    "GPUFLEET_CONFIG_DIR", "", "directory of several of them, with select.yaml; for the Node's label"),
            Setting.optional(
                    "GPUFLEET_CDI_DIR", "/var/run/cdi", "directory in which container runtimes read CDI specs"),
            Setting.optional(
                    "GPUFLEET_DEV_ROOT",
                    "",
                    "directory of the host whose dev/ has the GPUs' device nodes; empty: the driver root if it has them"),
            Setting.optional("GPUFLEET_HOST_ROOT", "/", "path of the host's root directory in this process"),
            Setting.optional(
                    "GPUFLEET_STATE_DIR", "/var/lib/gpufleet", "directory of state that is kept over a restart"),
            Setting.optional(
                    "GPUFLEET_RUN_DIR", "/run/gpufleet", "directory shared with driver installers on the node"),
            Setting.optional("GPUFLEET_OUTBOX_BYTES", "67108864", "maximum size of the outbox in bytes"),
            Setting.optional("GPUFLEET_BOOT_ID_FILE", "/proc/sys/kernel/random/boot_id", "file with the boot id"),
            Setting.optional(
                    "GPUFLEET_RECOVERY_DWELL",
                    "5m",
                    "how long a fault must be resolved before its device is offered again"),
            Setting.optional("GPUFLEET_TELEMETRY_INTERVAL", "10s", "sampling interval of devices"),
            Setting.optional(
                    "GPUFLEET_IGNORE_VERDICTS_FILE",
                    "/etc/gpufleet/ignore-verdicts",
                    "break-glass: while this file is there, verdicts are only recorded"),
            Setting.optional("GPUFLEET_VERDICTS", "obey", "obey the health-service's verdicts, or only record them"));

    /** The same settings, none of them required. */
    public static final List<Setting> PROBE_SETTINGS = SETTINGS.stream()
            .map(setting -> Setting.optional(setting.name(), setting.defaultValue(), setting.description()))
            .toList();

    /** Reads the environment; the message of an error is one line. */
    public static DaemonConfig from(Environment environment) {
        environment.choice("GPUFLEET_LOG_FORMAT", "text", "json");
        environment.choice("GPUFLEET_LOG_LEVEL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE");
        return new DaemonConfig(
                kafka(environment),
                devices(environment),
                new KubeletConfig(
                        environment.path("GPUFLEET_DEVICE_PLUGIN_DIR"),
                        environment.path("GPUFLEET_PLUGINS_REGISTRY_DIR"),
                        registration(environment),
                        environment.path("GPUFLEET_POD_RESOURCES_SOCKET"),
                        strategies(environment)),
                new PluginConfigFiles(
                        environment.text("GPUFLEET_CONFIG_FILE"), environment.text("GPUFLEET_CONFIG_DIR")),
                new ContainerConfig(devRoot(environment), environment.path("GPUFLEET_CDI_DIR")),
                new StorageConfig(
                        environment.path("GPUFLEET_STATE_DIR"),
                        environment.path("GPUFLEET_RUN_DIR"),
                        environment.integer("GPUFLEET_OUTBOX_BYTES", 65_536, Integer.MAX_VALUE),
                        environment.path("GPUFLEET_BOOT_ID_FILE")),
                new TimingConfig(
                        environment.duration("GPUFLEET_RECOVERY_DWELL"),
                        atLeast(environment, "GPUFLEET_TELEMETRY_INTERVAL", Duration.ofMillis(100))),
                new HttpConfig(
                        environment.text("GPUFLEET_HTTP_HOST"), environment.integer("GPUFLEET_HTTP_PORT", 0, 65_535)));
    }

    /** Reads the settings of the device source, which are all that a probe needs. */
    public static DeviceConfig devices(Environment environment) {
        return new DeviceConfig(
                environment.text("GPUFLEET_DEVICES"),
                environment.text("GPUFLEET_NVML_LIBRARY"),
                environment.path("GPUFLEET_DRIVER_ROOT"),
                atLeast(environment, "GPUFLEET_NVML_DEADLINE", Duration.ofMillis(100)),
                new HostView(
                        environment.path("GPUFLEET_HOST_ROOT"),
                        environment.path("GPUFLEET_PROC_DIR"),
                        environment.path("GPUFLEET_SYS_DIR")),
                environment.text("GPUFLEET_SIMULATION_DIR"),
                environment.text("GPUFLEET_KMSG"));
    }

    private static KafkaConfig kafka(Environment environment) {
        String cluster = environment.text("GPUFLEET_CLUSTER");
        if (!cluster.matches("[A-Za-z0-9._-]{1,128}")) {
            throw environment.invalid("GPUFLEET_CLUSTER", "1 to 128 letters, digits, dots, dashes and underscores");
        }
        String node = environment.text("GPUFLEET_NODE");
        if (node.length() > MAX_NODE_NAME || !node.matches("[a-z0-9]([-a-z0-9.]*[a-z0-9])?")) {
            throw environment.invalid("GPUFLEET_NODE", "the name of a Kubernetes Node");
        }
        String prefix = environment.text("GPUFLEET_TOPIC_PREFIX");
        if (!prefix.matches("[a-zA-Z0-9._-]{1,64}")) {
            throw environment.invalid(
                    "GPUFLEET_TOPIC_PREFIX", "1 to 64 letters, digits, dots, dashes and underscores, for example gpu.");
        }
        return new KafkaConfig(
                environment.text("GPUFLEET_KAFKA"),
                environment.text("GPUFLEET_KAFKA_CONFIG"),
                cluster,
                prefix,
                node,
                environment.choice("GPUFLEET_VERDICTS", "obey", "record").equals("obey"),
                environment.path("GPUFLEET_IGNORE_VERDICTS_FILE"));
    }

    private static RegistrationSettings registration(Environment environment) {
        return new RegistrationSettings(
                RegistrationSettings.RegistrationMode.valueOf(environment
                        .choice("GPUFLEET_DEVICE_PLUGIN", "auto", "on", "off")
                        .toUpperCase(Locale.ROOT)),
                switch (environment.choice("GPUFLEET_KUBELET_REGISTRATION", "device-plugins", "plugins-registry")) {
                    case "plugins-registry" -> RegistrationSettings.RegistrationTransport.PLUGINS_REGISTRY;
                    default -> RegistrationSettings.RegistrationTransport.DEVICE_PLUGINS;
                });
    }

    private static String devRoot(Environment environment) {
        String root = environment.text("GPUFLEET_DEV_ROOT");
        if (!root.isEmpty() && !root.startsWith("/")) {
            throw environment.invalid("GPUFLEET_DEV_ROOT", "an absolute path");
        }
        return root;
    }

    private static Set<String> strategies(Environment environment) {
        var strategies = new TreeSet<String>();
        if (environment.text("GPUFLEET_DEVICE_LIST_STRATEGY").isEmpty()) {
            return strategies;
        }
        for (String strategy : environment.text("GPUFLEET_DEVICE_LIST_STRATEGY").split(",", -1)) {
            if (!STRATEGIES.contains(strategy.strip())) {
                throw environment.invalid("GPUFLEET_DEVICE_LIST_STRATEGY", "one or several of " + STRATEGIES);
            }
            strategies.add(strategy.strip());
        }
        return strategies;
    }

    private static Duration atLeast(Environment environment, String name, Duration min) {
        Duration value = environment.duration(name);
        if (value.compareTo(min) < 0) {
            throw environment.invalid(name, "a duration of at least " + min.toMillis() + "ms");
        }
        return value;
    }
}
