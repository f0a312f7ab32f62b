package io.gpufleet.nodedaemon.cli;

import io.gpufleet.kit.config.Setting;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The texts of the manual pages. Options of commands are in {@link DaemonCommand}, settings in {@link DaemonConfig}. */
final class ManualPages {
    private static final Set<String> DEVICE_SETTINGS = Set.of(
            "GPUFLEET_DEVICES",
            "GPUFLEET_DRIVER_ROOT",
            "GPUFLEET_HOST_ROOT",
            "GPUFLEET_NODE",
            "GPUFLEET_NVML_LIBRARY",
            "GPUFLEET_SIMULATION_DIR");
    private static final ManualItem HELP =
            new ManualItem("--help", "print this page; after a command, the page of that command");
    private static final ManualItem USAGE_ERROR =
            new ManualItem("2", "invalid argument, option or setting; one line names it");

    /**
     * A page.
     *
     * @param name command, for example {@code node-daemon probe}
     * @param summary one line
     * @param synopsis one line per form
     * @param description paragraphs
     * @param commands of the program, on its own page only
     * @param options of the command
     * @param settings environment variables that it reads
     */
    record ManualPage(
            String name,
            String summary,
            List<String> synopsis,
            List<String> description,
            List<ManualItem> commands,
            List<ManualItem> options,
            List<Setting> settings,
            List<ManualSection> furtherSections) {}

    /** A section of items. */
    record ManualSection(String title, List<ManualItem> items) {}

    /** A term and its description. */
    record ManualItem(String term, String description) {}

    private ManualPages() {}

    static ManualPage of(DaemonCommand command) {
        return switch (command) {
            case RUN -> run();
            case PROBE -> probe();
            case DOCTOR -> doctor();
            case RECORD -> record();
        };
    }

    static ManualPage program() {
        return new ManualPage(
                "node-daemon",
                "device plugin, health monitor and event source of a GPU node",
                List.of("node-daemon [COMMAND] [OPTIONS]"),
                List.of(
                        "Device plugin, health monitor, metrics exporter and event source of one Kubernetes node with GPUs. It"
                                + " is configured by its environment. The default command is run."),
                Arrays.stream(DaemonCommand.values())
                        .map(command -> new ManualItem(
                                command.commandName(), of(command).summary()))
                        .toList(),
                options(DaemonCommand.RUN),
                DaemonConfig.SETTINGS,
                List.of(
                        files(),
                        new ManualSection(
                                "EXIT STATUS",
                                List.of(new ManualItem("0", "success, or ended by SIGTERM"), failed(), USAGE_ERROR)),
                        new ManualSection(
                                "EXAMPLES",
                                List.of(
                                        new ManualItem(
                                                "node-daemon doctor", "problems of this node and recommended actions"),
                                        new ManualItem(
                                                "GPUFLEET_DEVICES=simulated:8xH100 node-daemon probe",
                                                "what eight simulated GPUs report")))));
    }

    private static ManualItem failed() {
        return new ManualItem("1", "failure");
    }

    private static ManualPage run() {
        return new ManualPage(
                "node-daemon run",
                "offer the GPUs to the kubelet, monitor them and publish events to Kafka",
                List.of("node-daemon [run]"),
                List.of(
                        "Registers the node's GPUs with the kubelet, answers Allocate, withdraws GPUs with faults until the"
                                + " faults are proven resolved, and publishes events to Kafka. NVML library, driver, kubelet"
                                + " and broker may be absent at the start, appear later, and restart.",
                        "The file hold in the run directory makes it release every GPU, so that a driver can be unloaded or a"
                                + " GPU be reset; the file released confirms that they are released."),
                List.of(),
                options(DaemonCommand.RUN),
                DaemonConfig.SETTINGS,
                List.of(
                        files(),
                        new ManualSection(
                                "EXIT STATUS",
                                List.of(
                                        new ManualItem("0", "ended by SIGTERM"),
                                        new ManualItem(
                                                "1", "could not start, for example because the HTTP port is in use"),
                                        USAGE_ERROR)),
                        new ManualSection(
                                "EXAMPLES",
                                List.of(
                                        new ManualItem(
                                                "GPUFLEET_CLUSTER=c1 GPUFLEET_KAFKA=kafka:9092 GPUFLEET_NODE=n1 node-daemon",
                                                "on a node with GPUs"),
                                        new ManualItem(
                                                "GPUFLEET_DEVICES=simulated:2xA100:mig=7x1g.5gb MIG_STRATEGY=mixed"
                                                        + " node-daemon",
                                                "MIG without hardware, as nvidia.com/mig-1g.5gb (with the three settings"
                                                        + " above)")))));
    }

    private static ManualPage probe() {
        return new ManualPage(
                "node-daemon probe",
                "print what the devices report, once",
                List.of("node-daemon probe [--json]"),
                List.of("Needs neither Kafka nor a kubelet. A dash is an unavailable reading; the reasons are below the"
                        + " tables. JSON has every reading, an unavailable one with its reason."),
                List.of(),
                options(DaemonCommand.PROBE),
                deviceSettings(),
                List.of(new ManualSection(
                        "EXIT STATUS",
                        List.of(
                                new ManualItem("0", "the driver responds"),
                                new ManualItem("1", "the driver does not respond; the reason is printed"),
                                USAGE_ERROR))));
    }

    private static ManualPage doctor() {
        return new ManualPage(
                "node-daemon doctor",
                "check this node and recommend actions",
                List.of("node-daemon doctor [--json]"),
                List.of(
                        "Checks everything that the daemon needs, with the daemon's own settings: run it in the daemon's pod"
                                + " (kubectl exec POD -- /opt/gpufleet/bin/node-daemon doctor). It changes nothing, needs no Kubernetes"
                                + " credentials, and every check has a timeout.",
                        "WARN is a problem that limits the daemon now or soon. FAIL prevents GPUs from being offered or events"
                                + " from being sent. Every WARN and FAIL has a remedy."),
                List.of(),
                options(DaemonCommand.DOCTOR),
                DaemonConfig.SETTINGS,
                List.of(new ManualSection(
                        "EXIT STATUS",
                        List.of(
                                new ManualItem("0", "no check fails"),
                                new ManualItem("1", "a check fails"),
                                USAGE_ERROR))));
    }

    private static ManualPage record() {
        return new ManualPage(
                "node-daemon record",
                "record what the devices report, to be replayed",
                List.of("node-daemon record FILE [--for TIME] [--every TIME] [--anonymous]"),
                List.of(
                        "Writes scans, samples and events of the devices as JSON lines with the time since the start; a FILE"
                                + " that ends in .gz is compressed. GPUFLEET_DEVICES=recording:FILE replays it and stays in its"
                                + " last state, recording:FILE:loop restarts at its end."),
                List.of(),
                options(DaemonCommand.RECORD),
                deviceSettings(),
                List.of(
                        new ManualSection(
                                "EXIT STATUS",
                                List.of(
                                        new ManualItem("0", "recorded, or interrupted by SIGINT or SIGTERM"),
                                        new ManualItem("1", "the file cannot be written"),
                                        USAGE_ERROR)),
                        new ManualSection(
                                "EXAMPLES",
                                List.of(new ManualItem(
                                        "node-daemon record node7.jsonl.gz --for 1h --anonymous",
                                        "a recording to attach to a bug report")))));
    }

    private static List<ManualItem> options(DaemonCommand command) {
        return Stream.concat(
                        command.options().stream()
                                .map(option -> new ManualItem(
                                        (option.name() + " " + option.placeholder()).strip(), option.description())),
                        Stream.of(HELP))
                .toList();
    }

    private static List<Setting> deviceSettings() {
        return DaemonConfig.PROBE_SETTINGS.stream()
                .filter(setting -> DEVICE_SETTINGS.contains(setting.name()))
                .toList();
    }

    private static ManualSection files() {
        return new ManualSection(
                "FILES",
                List.of(
                        new ManualItem("$GPUFLEET_STATE_DIR/outbox/", "events that the broker has not acknowledged"),
                        new ManualItem(
                                "$GPUFLEET_STATE_DIR/devices.json", "open faults and known GPUs, kept over a restart"),
                        new ManualItem("$GPUFLEET_STATE_DIR/verdict.json", "newest verdict of the health-service"),
                        new ManualItem("$GPUFLEET_RUN_DIR/hold", "while it exists, every GPU is released"),
                        new ManualItem("$GPUFLEET_RUN_DIR/released", "confirms that they are released"),
                        new ManualItem(
                                "$GPUFLEET_CONFIG_DIR/select.yaml",
                                "rules that select a configuration file for a node"),
                        new ManualItem("$GPUFLEET_DEVICE_PLUGIN_DIR/gpufleet-*.sock", "sockets of the device plugin")));
    }
}
