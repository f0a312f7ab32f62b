package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.app.DoctorFinding;
import io.gpufleet.nodedaemon.cli.DoctorReport;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.deviceplugin.KubeletCheck;
import io.gpufleet.nodedaemon.deviceplugin.KubeletRoots;
import io.gpufleet.nodedaemon.host.DirectoryCheck;
import io.gpufleet.nodedaemon.host.KernelCheck;
import io.gpufleet.nodedaemon.kafka.BrokerCheck;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.nvml.NvmlSettings;
import io.gpufleet.nodedaemon.nvml.NvmlSource;
import io.gpufleet.nodedaemon.pluginconfig.NvidiaPluginEnvironment;
import io.gpufleet.nodedaemon.pluginconfig.SettingsWatcher;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Checks everything that the daemon needs, for the command {@code doctor}. */
final class NodeDoctor {
    private static final int EXIT_OK = 0;
    private static final int EXIT_FAILED = 1;
    /** Longer than the 20 s after which the source itself abandons a call of a hanging driver. */
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static final Set<DeviceListStrategy> CDI_STRATEGIES =
            Set.of(DeviceListStrategy.CDI_ANNOTATIONS, DeviceListStrategy.CDI_CRI);
    private static final long MIN_FREE_BYTES = 1 << 20;

    private final Map<String, String> environment;
    private final DaemonConfig config;

    private final DoctorView view;

    /**
     * Facts that a running daemon knows better than a second process.
     *
     * @param scan devices of the settings, scanned
     * @param daemon whether the daemon is ready
     */
    record DoctorView(Supplier<DeviceScan> scan, Supplier<DoctorFinding> daemon) {}

    private interface DoctorCheck {
        List<DoctorFinding> findings();
    }

    private NodeDoctor(Map<String, String> environment, DaemonConfig config, DoctorView view) {
        this.environment = environment;
        this.config = config;
        this.view = view;
    }

    /** Makes the report. */
    static DoctorReport report(Map<String, String> environment, DaemonConfig config, DoctorView view) {
        var doctor = new NodeDoctor(environment, config, view);
        var set = new TreeMap<>(environment);
        set.keySet().removeIf(name -> !name.startsWith("GPUFLEET_"));
        return new DoctorReport(doctor.findings(), set);
    }

    /** The exit status for a report. */
    static int status(DoctorReport report) {
        return report.healthy() ? EXIT_OK : EXIT_FAILED;
    }

    /** Runs the checks concurrently; their findings are in the order in which an operator would check. */
    private List<DoctorFinding> findings() {
        var checks = new TreeMap<String, DoctorCheck>(Map.of(
                "1 settings", this::settings,
                "2 devices", this::devices,
                "3 host", this::host,
                "4 kubelet", this::kubelet,
                "5 directories", this::directories,
                "6 Kafka",
                        () -> new BrokerCheck(
                                        config.kafka().bootstrap(),
                                        config.kafka().clientProperties(),
                                        config.kafka().topicPrefix(),
                                        config.kafka().node())
                                .examine(),
                "7 daemon", () -> List.of(view.daemon().get())));
        var running = new TreeMap<String, FutureTask<List<DoctorFinding>>>();
        checks.forEach((name, check) -> {
            var task = new FutureTask<>(check::findings);
            running.put(name, task);
            Thread.ofPlatform().name("check-" + name).daemon(true).start(task);
        });
        var findings = new ArrayList<DoctorFinding>();
        running.forEach((name, task) -> findings.addAll(await(name.substring(2), task)));
        return findings;
    }

    private static List<DoctorFinding> await(String name, FutureTask<List<DoctorFinding>> task) {
        try {
            return task.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException hangs) {
            return List.of(DoctorFinding.fail(
                    name,
                    "no response for " + TIMEOUT.toSeconds() + " s",
                    "a driver, a disk or a socket hangs: see dmesg"));
        } catch (ExecutionException failed) {
            return List.of(DoctorFinding.fail(name, "check failed: " + failed.getCause(), "report this"));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    private List<DoctorFinding> settings() {
        try {
            var watcher = new SettingsWatcher(
                    DeviceSources.settingsSources(config), new NvidiaPluginEnvironment(environment), _ -> {});
            var findings = new ArrayList<DoctorFinding>();
            findings.add(DoctorFinding.ok(
                    "settings",
                    "devices are offered by settings of "
                            + watcher.selector().fallback().origin()));
            watcher.ignored()
                    .forEach(line -> findings.add(
                            DoctorFinding.warn("settings", "ignored: " + line, "harmless; remove it to silence this")));
            if (watcher.selector().fallback().settings().allocate().strategies().stream()
                    .anyMatch(CDI_STRATEGIES::contains)) {
                findings.add(DirectoryCheck.writable(
                        "CDI directory",
                        "GPUFLEET_CDI_DIR",
                        config.containers().cdiDirectory(),
                        MIN_FREE_BYTES,
                        "containers with a GPU cannot start"));
            }
            return findings;
        } catch (ConfigurationException invalid) {
            return List.of(DoctorFinding.fail(
                    "settings", String.valueOf(invalid.getMessage()), "correct it; the daemon would not start"));
        }
    }

    private List<DoctorFinding> devices() {
        boolean real = config.devices().source().equals("nvml");
        var kernel = new KernelCheck(Path.of("/"));
        if (real
                && config.devices().nvmlLibrary().isEmpty()
                && kernel.pciDevices(config.devices().host().sys()) == 0) {
            return List.of(
                    DoctorFinding.ok("GPUs", "none: this machine has no PCI device of NVIDIA, the daemon idles"));
        }
        DeviceScan scan = view.scan().get();
        var findings = new ArrayList<DoctorFinding>();
        if (real) {
            findings.add(kernel.driver(scan));
            findings.add(library());
        }
        findings.add(gpus(scan));
        if (real) {
            String devRoot = config.containers().devRoot();
            findings.add(new KernelCheck(Path.of(devRoot.isEmpty() ? "/" : devRoot))
                    .nodes(scan instanceof DeviceScan.ScanSucceeded succeeded ? succeeded.gpus() : List.<Gpu>of()));
        }
        return findings;
    }

    private DoctorFinding library() {
        String found = NvmlSource.library(
                NvmlSettings.of(config.devices().nvmlLibrary(), config.devices().localDriverRoot()));
        return found.startsWith("/")
                ? DoctorFinding.ok("NVML library", found)
                : DoctorFinding.fail(
                        "NVML library",
                        found,
                        "set GPUFLEET_DRIVER_ROOT to its directory on the host, and GPUFLEET_HOST_ROOT to the mount of"
                                + " the host's root in the pod");
    }

    private DoctorFinding gpus(DeviceScan scan) {
        return switch (scan) {
            case DeviceScan.ScanFailed(DeviceScan.DriverProblem problem, String reason) ->
                DoctorFinding.fail(
                        "GPUs", problem + ": " + reason, "the daemon scans again by itself, no restart is needed");
            case DeviceScan.ScanSucceeded succeeded
            when !succeeded.lost().isEmpty() ->
                DoctorFinding.fail(
                        "GPUs",
                        succeeded.lost().size() + " of "
                                + (succeeded.gpus().size() + succeeded.lost().size()) + " do not respond: "
                                + succeeded.lost().getFirst().reason(),
                        "reset or replace them; the others are still offered");
            case DeviceScan.ScanSucceeded succeeded
            when succeeded.gpus().isEmpty() ->
                DoctorFinding.warn("GPUs", "the driver responds and has none", "check lspci -d 10de: on the host");
            case DeviceScan.ScanSucceeded succeeded ->
                DoctorFinding.ok(
                        "GPUs",
                        models(succeeded) + ", driver " + succeeded.driverVersion() + " ("
                                + config.devices().source() + ")");
        };
    }

    private static String models(DeviceScan.ScanSucceeded succeeded) {
        return succeeded.gpus().stream()
                .collect(Collectors.groupingBy(gpu -> gpu.product().shortModel(), TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .map(model -> model.getValue() + " x " + model.getKey())
                .collect(Collectors.joining(", "));
    }

    private List<DoctorFinding> host() {
        var kernel = new KernelCheck(Path.of("/"));
        var findings = new ArrayList<DoctorFinding>();
        config.devices().kernelLogFile().ifPresent(log -> findings.add(kernel.kernelLog(log)));
        findings.add(kernel.inotify());
        if (config.devices().source().equals("nvml")) {
            findings.add(kernel.privileges());
            findings.add(kernel.processView());
        }
        return findings;
    }

    private List<DoctorFinding> kubelet() {
        DaemonConfig.KubeletConfig its = config.kubelet();
        var host = config.devices().host();
        return new KubeletCheck(
                        its.devicePluginDirectory(),
                        its.pluginsRegistry(),
                        its.registration(),
                        new KubeletRoots(host.root(), host.proc()))
                .examine(its.podResourcesSocket());
    }

    private List<DoctorFinding> directories() {
        return List.of(
                DirectoryCheck.writable(
                        "state directory",
                        "GPUFLEET_STATE_DIR",
                        config.state().stateDirectory(),
                        config.state().outboxBytes(),
                        "events and open faults would be lost by a restart"),
                DirectoryCheck.writable(
                        "run directory",
                        "GPUFLEET_RUN_DIR",
                        config.state().runDirectory(),
                        MIN_FREE_BYTES,
                        "driver installers could not request the release of GPUs"));
    }
}
