package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.Setting;
import io.gpufleet.nodedaemon.Manual.Item;
import io.gpufleet.nodedaemon.Manual.Page;
import io.gpufleet.nodedaemon.Manual.Section;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The words of the manual pages. What a command takes stands in {@link Command}, settings in {@link DaemonConfig}. */
final class Pages {
    private static final Set<String> DEVICE_SETTINGS = Set.of(
            "GPUFLEET_DEVICES",
            "GPUFLEET_DRIVER_ROOT",
            "GPUFLEET_HOST_ROOT",
            "GPUFLEET_NODE",
            "GPUFLEET_NVML_LIBRARY",
            "GPUFLEET_SIMULATION_DIR");
    private static final Item HELP = new Item("--help", "print this page; behind a command, the page of that command");
    private static final Item BAD_WORDS = new Item("2", "a word, an option or a setting is wrong; one line says which");

    private Pages() {}

    static Page of(Command command) {
        return switch (command) {
            case RUN -> run();
            case PROBE -> probe();
            case DOCTOR -> doctor();
            case RECORD -> record();
        };
    }

    static Page program() {
        return new Page(
                "node-daemon",
                "everything one GPU node needs, in one process",
                List.of("node-daemon [COMMAND] [OPTIONS]"),
                List.of(
                        "Device plugin, health monitor, metrics exporter and event source of one Kubernetes node with GPUs. It"
                                + " is configured by its environment. Without a command it runs."),
                Arrays.stream(Command.values())
                        .map(command -> new Item(command.word(), of(command).summary()))
                        .toList(),
                List.of(HELP),
                DaemonConfig.SETTINGS,
                List.of(
                        files(),
                        new Section(
                                "EXIT STATUS",
                                List.of(new Item("0", "done, or ended by SIGTERM"), failed(), BAD_WORDS)),
                        new Section(
                                "EXAMPLES",
                                List.of(
                                        new Item("node-daemon doctor", "what is wrong with this node, and what to do"),
                                        new Item(
                                                "GPUFLEET_DEVICES=simulated:8xH100 node-daemon probe",
                                                "what eight GPUs that do not exist say of themselves")))));
    }

    private static Item failed() {
        return new Item("1", "it could not be done");
    }

    private static Page run() {
        return new Page(
                "node-daemon run",
                "offer the GPUs to the kubelet, watch them and tell the bus",
                List.of("node-daemon [run]"),
                List.of(
                        "Registers the node's GPUs with the kubelet, answers Allocate, withdraws what is broken and takes it"
                                + " back when that is proven gone, and tells Kafka what it sees. It waits for what is absent:"
                                + " library, driver, kubelet or broker may come later, go and come back.",
                        "The file hold in the run directory makes it let go of every GPU, so that a driver can be unloaded or"
                                + " a GPU be reset; the file released says when that is so."),
                List.of(),
                List.of(HELP),
                DaemonConfig.SETTINGS,
                List.of(
                        files(),
                        new Section(
                                "EXIT STATUS",
                                List.of(
                                        new Item("0", "ended by SIGTERM"),
                                        new Item("1", "could not start, for example because the HTTP port is taken"),
                                        BAD_WORDS)),
                        new Section(
                                "EXAMPLES",
                                List.of(
                                        new Item(
                                                "GPUFLEET_CLUSTER=c1 GPUFLEET_KAFKA=kafka:9092 GPUFLEET_NODE=n1 node-daemon",
                                                "on a node with GPUs"),
                                        new Item(
                                                "GPUFLEET_DEVICES=simulated:2xA100:mig=7x1g.5gb MIG_STRATEGY=mixed"
                                                        + " node-daemon",
                                                "MIG without hardware, as nvidia.com/mig-1g.5gb (with the three settings"
                                                        + " from above)")))));
    }

    private static Page probe() {
        return new Page(
                "node-daemon probe",
                "print what the devices say of themselves, once",
                List.of("node-daemon probe [--json]"),
                List.of(
                        "Needs neither Kafka nor a kubelet. A dash stands for what could not be read; the reasons follow"
                                + " below. JSON has every reading, and in place of one that could not be read the reason."),
                List.of(),
                options(Command.PROBE),
                deviceSettings(),
                List.of(new Section(
                        "EXIT STATUS",
                        List.of(
                                new Item("0", "the driver answers"),
                                new Item("1", "it does not; the reason is printed"),
                                BAD_WORDS))));
    }

    private static Page doctor() {
        return new Page(
                "node-daemon doctor",
                "examine this node and say what to do",
                List.of("node-daemon doctor [--json]"),
                List.of(
                        "Goes through everything that the daemon needs, with the daemon's own settings: run it in the pod,"
                                + " beside the daemon (kubectl exec POD -- node-daemon doctor). It changes nothing, needs no"
                                + " Kubernetes credentials, and gives up on whatever does not answer.",
                        "OK is as it should be. WARN works, but not as it could, or will not for long. FAIL keeps GPUs from"
                                + " being offered or events from being sent. Every WARN and FAIL names its remedy."),
                List.of(),
                options(Command.DOCTOR),
                DaemonConfig.SETTINGS,
                List.of(new Section(
                        "EXIT STATUS",
                        List.of(new Item("0", "nothing fails"), new Item("1", "something does"), BAD_WORDS))));
    }

    private static Page record() {
        return new Page(
                "node-daemon record",
                "keep what the devices say for a while, to be played again",
                List.of("node-daemon record FILE [--for TIME] [--every TIME] [--anonymous]"),
                List.of(
                        "Writes what the devices are, how they are and what they report, as JSON lines with the time since"
                                + " the begin; a FILE that ends in .gz is compressed. GPUFLEET_DEVICES=recording:FILE plays it and"
                                + " holds at its end, recording:FILE:loop begins anew."),
                List.of(),
                options(Command.RECORD),
                deviceSettings(),
                List.of(
                        new Section(
                                "EXIT STATUS",
                                List.of(
                                        new Item("0", "recorded, or interrupted by SIGINT or SIGTERM"),
                                        new Item("1", "the file can not be written"),
                                        BAD_WORDS)),
                        new Section(
                                "EXAMPLES",
                                List.of(new Item(
                                        "node-daemon record node7.jsonl.gz --for 1h --anonymous",
                                        "something to send with a bug report")))));
    }

    private static List<Item> options(Command command) {
        return Stream.concat(
                        command.options().stream()
                                .map(option ->
                                        new Item((option.name() + " " + option.value()).strip(), option.about())),
                        Stream.of(HELP))
                .toList();
    }

    private static List<Setting> deviceSettings() {
        return DaemonConfig.PROBE_SETTINGS.stream()
                .filter(setting -> DEVICE_SETTINGS.contains(setting.name()))
                .toList();
    }

    private static Section files() {
        return new Section(
                "FILES",
                List.of(
                        new Item("$GPUFLEET_STATE_DIR/outbox/", "events that the broker does not have yet"),
                        new Item("$GPUFLEET_STATE_DIR/devices.json", "open faults and known GPUs, over a restart"),
                        new Item("$GPUFLEET_STATE_DIR/verdict.json", "what the health-service said last"),
                        new Item("$GPUFLEET_RUN_DIR/hold", "while it exists, every GPU is let go"),
                        new Item("$GPUFLEET_RUN_DIR/released", "says that they are"),
                        new Item("$GPUFLEET_CONFIG_DIR/select.yaml", "which configuration file is for which nodes"),
                        new Item("$GPUFLEET_DEVICE_PLUGIN_DIR/gpufleet-*.sock", "where the kubelet finds us")));
    }
}
