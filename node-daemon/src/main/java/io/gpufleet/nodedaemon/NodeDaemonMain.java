package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import java.util.Arrays;
import java.util.List;

/** The node-daemon's commands: {@code run}, which is also what no command means, and {@code probe}. */
public final class NodeDaemonMain {
    private NodeDaemonMain() {}

    /** Runs a command. */
    public static void main(String[] arguments) {
        List<String> words = Arrays.asList(arguments);
        if (words.contains("--help")) {
            System.out.print("""
                    node-daemon [run]          everything one GPU node needs; this is the default
                    node-daemon probe [--json] what the devices say of themselves, once

                    """);
            System.out.print(Environment.help("node-daemon", DaemonConfig.SETTINGS));
            return;
        }
        switch (words.isEmpty() ? "run" : words.getFirst()) {
            case "run" ->
                Program.run("node-daemon", arguments, System.getenv(), DaemonConfig.SETTINGS, NodeDaemonMain::start);
            case "probe" -> System.exit(ProbeMain.probe(System.getenv(), words.contains("--json")));
            default -> {
                System.err.println("node-daemon: '" + words.getFirst() + "' is not a command; run, probe or --help");
                System.exit(2);
            }
        }
    }

    private static void start(Environment environment, Shutdown shutdown) throws InterruptedException {
        shutdown.add("daemon", new DaemonMain(DaemonConfig.from(environment), System.getenv()));
    }
}
