package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.nodedaemon.cli.CommandLine;
import io.gpufleet.nodedaemon.cli.ManualRenderer;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLoader;

/** The node-daemon's commands: {@code run}, the default, and those for operators. */
public final class NodeDaemonMain {
    private static final int EXIT_USAGE = 2;

    private NodeDaemonMain() {}

    /** Runs a command. */
    public static void main(String[] arguments) {
        try {
            execute(CommandLine.parse(arguments));
        } catch (ConfigurationException invalid) {
            System.err.println("node-daemon: " + invalid.getMessage());
            System.exit(EXIT_USAGE);
        }
    }

    private static void execute(CommandLine line) {
        if (line.help()) {
            System.out.print(ManualRenderer.page(line));
            return;
        }
        switch (line.command()) {
            case RUN -> {
                String[] arguments = line.options().keySet().toArray(String[]::new);
                if (arguments.length == 0) {
                    prepareNativeCalls();
                }
                Program.run("node-daemon", arguments, System.getenv(), DaemonConfig.SETTINGS, NodeDaemonMain::start);
            }
            case PROBE -> System.exit(ProbeMain.probe(System.getenv(), line.has("--json")));
            case DOCTOR -> System.exit(DoctorMain.examine(System.getenv(), line.has("--json")));
            case RECORD -> System.exit(RecordMain.record(System.getenv(), line));
        }
    }

    /** On another thread, while this one reads the settings; simulated GPUs need no native code. */
    private static void prepareNativeCalls() {
        if (System.getenv().getOrDefault("GPUFLEET_DEVICES", "nvml").equals("nvml")) {
            Thread.ofPlatform().name("native-calls").daemon(true).start(NvmlLoader::prepare);
        }
    }

    private static void start(Environment environment, Shutdown shutdown) throws InterruptedException {
        shutdown.add("daemon", new DaemonMain(DaemonConfig.from(environment), System.getenv(), shutdown));
    }
}
