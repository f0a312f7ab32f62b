package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.nodedaemon.config.DaemonConfig;

/** The node-daemon's commands: {@code run}, which is also what no command means, and those for people. */
public final class NodeDaemonMain {
    private static final int BAD_COMMAND = 2;

    private NodeDaemonMain() {}

    /** Runs a command. */
    public static void main(String[] arguments) {
        try {
            obey(CommandLine.parse(arguments));
        } catch (ConfigurationException wrong) {
            System.err.println("node-daemon: " + wrong.getMessage());
            System.exit(BAD_COMMAND);
        }
    }

    private static void obey(CommandLine line) {
        if (line.help()) {
            System.out.print(Manual.page(line));
            return;
        }
        switch (line.command()) {
            case RUN ->
                Program.run(
                        "node-daemon", new String[0], System.getenv(), DaemonConfig.SETTINGS, NodeDaemonMain::start);
            case PROBE -> System.exit(ProbeMain.probe(System.getenv(), line.has("--json")));
            case DOCTOR -> System.exit(DoctorMain.examine(System.getenv(), line.has("--json")));
            case RECORD -> System.exit(RecordMain.record(System.getenv(), line));
        }
    }

    private static void start(Environment environment, Shutdown shutdown) throws InterruptedException {
        shutdown.add("daemon", new DaemonMain(DaemonConfig.from(environment), System.getenv()));
    }
}
