package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.app.DoctorReport;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.deviceplugin.KubeletCheck;
import io.gpufleet.nodedaemon.doctor.DaemonCheck;
import io.gpufleet.nodedaemon.doctor.KernelCheck;
import io.gpufleet.nodedaemon.doctor.PlaceCheck;
import io.gpufleet.nodedaemon.kafka.BrokerCheck;
import io.gpufleet.nodedaemon.model.Finding;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import io.gpufleet.nodedaemon.nvml.NvmlSettings;
import io.gpufleet.nodedaemon.nvml.NvmlSource;
import io.gpufleet.nodedaemon.settings.NvidiaEnvironment;
import io.gpufleet.nodedaemon.settings.SettingsDesk;
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
import java.util.stream.Collectors;

/** The command {@code doctor}: everything that the daemon needs, looked at one thing after the other. */
final class DoctorMain {
    private static final int WELL = 0;
    private static final int ILL = 1;
    /** A driver that hangs is given up after 20 s by the source itself. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Set<Strategy> CDI = Set.of(Strategy.CDI_ANNOTATIONS, Strategy.CDI_CRI);
    private static final long FEW_BYTES = 1 << 20;

    private final Map<String, String> environment;
    private final DaemonConfig config;

    private interface Check {
        List<Finding> findings();
    }

    private DoctorMain(Map<String, String> environment) {
        this.environment = environment;
        this.config = DaemonConfig.from(Environment.read(environment, DaemonConfig.SETTINGS));
    }

    /** Prints the report; answers the exit status: 0 nothing fails, 1 something does. */
    static int examine(Map<String, String> environment, boolean json) {
        var doctor = new DoctorMain(environment);
        var set = new TreeMap<>(environment);
        set.keySet().removeIf(name -> !name.startsWith("GPUFLEET_"));
        var report = new DoctorReport(doctor.findings(), set);
        System.out.print(json ? report.json() : report.table());
        return report.well() ? WELL : ILL;
    }

    /** The checks run side by side; their findings stand in the order in which a person would look. */
    private List<Finding> findings() {
        var checks = new TreeMap<String, Check>(Map.of(
                "1 settings", this::settings,
                "2 devices", this::devices,
                "3 host", this::host,
                "4 kubelet", this::kubelet,
                "5 places", this::places,
                "6 Kafka",
                        () -> new BrokerCheck(
                                        config.kafka().bootstrap(),
                                        config.kafka().topicPrefix(),
                                        config.kafka().node())
                                .examine(),
                "7 daemon", () -> List.of(DaemonCheck.ready(config.httpHost(), config.httpPort()))));
        var running = new TreeMap<String, FutureTask<List<Finding>>>();
        checks.forEach((name, check) -> {
            var task = new FutureTask<>(check::findings);
            running.put(name, task);
            Thread.ofPlatform().name("check-" + name).daemon(true).start(task);
        });
        var findings = new ArrayList<Finding>();
        running.forEach((name, task) -> findings.addAll(await(name.substring(2), task)));
        return findings;
    }

    private static List<Finding> await(String name, FutureTask<List<Finding>> task) {
        try {
            return task.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException hangs) {
            return List.of(Finding.fail(
                    name,
                    "no answer for " + PATIENCE.toSeconds() + " s",
                    "a driver, a disk or a socket hangs: see dmesg"));
        } catch (ExecutionException failed) {
            return List.of(Finding.fail(name, "could not be examined: " + failed.getCause(), "report this"));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    private List<Finding> settings() {
        try (var desk = new SettingsDesk(Sources.places(config), new NvidiaEnvironment(environment), _ -> {})) {
            var findings = new ArrayList<Finding>();
            findings.add(Finding.ok(
                    "settings",
                    "devices are offered as " + desk.choice().otherwise().origin() + " says"));
            desk.ignored()
                    .forEach(line -> findings.add(
                            Finding.warn("settings", "not honoured: " + line, "harmless; remove it to silence this")));
            if (desk.choice().otherwise().settings().allocate().strategies().stream()
                    .anyMatch(CDI::contains)) {
                findings.add(PlaceCheck.writable(
                        "CDI directory",
                        "GPUFLEET_CDI_DIR",
                        config.containers().cdiDirectory(),
                        FEW_BYTES,
                        "no container with a GPU could be started"));
            }
            return findings;
        } catch (ConfigurationException bad) {
            return List.of(
                    Finding.fail("settings", String.valueOf(bad.getMessage()), "correct it; a start would stop"));
        }
    }

    private List<Finding> devices() {
        boolean real = config.devices().source().equals("nvml");
        var kernel = new KernelCheck(Path.of("/"));
        if (real && config.devices().nvmlLibrary().isEmpty() && kernel.pciDevices() == 0) {
            return List.of(Finding.ok("GPUs", "none: this machine has no PCI device of NVIDIA, the daemon idles"));
        }
        try (DeviceSource source = Sources.open(config.devices(), config.kafka().node())) {
            Look look = source.look();
            var findings = new ArrayList<Finding>();
            if (real) {
                findings.add(kernel.driver(look));
                findings.add(library());
            }
            findings.add(gpus(look));
            if (real) {
                String devRoot = config.containers().devRoot();
                findings.add(new KernelCheck(Path.of(devRoot.isEmpty() ? "/" : devRoot))
                        .nodes(look instanceof Look.Seen seen ? seen.gpus() : List.<Gpu>of()));
            }
            return findings;
        }
    }

    private Finding library() {
        String found = NvmlSource.library(
                NvmlSettings.of(config.devices().nvmlLibrary(), config.devices().seenDriverRoot()));
        return found.startsWith("/")
                ? Finding.ok("NVML library", found)
                : Finding.fail(
                        "NVML library",
                        found,
                        "set GPUFLEET_DRIVER_ROOT to its directory on the host, and GPUFLEET_HOST_ROOT to where the pod has"
                                + " the host's root mounted");
    }

    private Finding gpus(Look look) {
        return switch (look) {
            case Look.Blind(Look.DriverTrouble trouble, String reason) ->
                Finding.fail("GPUs", trouble + ": " + reason, "the daemon looks again by itself, no restart is needed");
            case Look.Seen seen
            when !seen.lost().isEmpty() ->
                Finding.fail(
                        "GPUs",
                        seen.lost().size() + " of "
                                + (seen.gpus().size() + seen.lost().size()) + " do not answer: "
                                + seen.lost().getFirst().reason(),
                        "reset or replace them; the others are offered all the same");
            case Look.Seen seen
            when seen.gpus().isEmpty() ->
                Finding.warn("GPUs", "the driver answers and has none", "check lspci -d 10de: on the host");
            case Look.Seen seen ->
                Finding.ok(
                        "GPUs",
                        models(seen) + ", driver " + seen.driverVersion() + " ("
                                + config.devices().source() + ")");
        };
    }

    private static String models(Look.Seen seen) {
        return seen.gpus().stream()
                .collect(Collectors.groupingBy(Gpu::shortModel, TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .map(model -> model.getValue() + " x " + model.getKey())
                .collect(Collectors.joining(", "));
    }

    private List<Finding> host() {
        var kernel = new KernelCheck(Path.of("/"));
        var findings = new ArrayList<Finding>();
        config.devices().kernelMessages().ifPresent(log -> findings.add(kernel.kernelLog(log)));
        findings.add(kernel.inotify());
        if (config.devices().source().equals("nvml")) {
            findings.add(kernel.rights());
            findings.add(kernel.processView());
        }
        return findings;
    }

    private List<Finding> kubelet() {
        DaemonConfig.Kubelet its = config.kubelet();
        return new KubeletCheck(its.devicePluginDirectory(), its.pluginsRegistry(), its.manners())
                .examine(its.podResourcesSocket());
    }

    private List<Finding> places() {
        return List.of(
                PlaceCheck.writable(
                        "state directory",
                        "GPUFLEET_STATE_DIR",
                        config.state().stateDirectory(),
                        config.state().outboxBytes(),
                        "events and open faults would not outlive a restart"),
                PlaceCheck.writable(
                        "run directory",
                        "GPUFLEET_RUN_DIR",
                        config.state().runDirectory(),
                        FEW_BYTES,
                        "no driver installer could ask for the GPUs"));
    }
}
