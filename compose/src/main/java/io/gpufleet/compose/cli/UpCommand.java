package io.gpufleet.compose.cli;

import io.gpufleet.compose.fleet.FleetOptions;
import io.gpufleet.compose.fleet.FleetState;
import io.gpufleet.compose.fleet.Identity;
import io.gpufleet.compose.fleet.Progress;
import io.gpufleet.compose.fleet.StateDirectory;
import io.gpufleet.compose.local.LocalFleet;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Starts the fleet, and ends it on Ctrl-C unless it is to run detached. */
@Command(name = "up", description = "Start the fleet; Ctrl-C ends it.", mixinStandardHelpOptions = true)
final class UpCommand implements Runnable {
    @ParentCommand
    private Gpufleet parent = new Gpufleet();

    @Option(names = "--nodes", description = "simulated nodes [${DEFAULT-VALUE}]")
    private int nodes = 3;

    @Option(names = "--gpus", description = "GPUs of each [${DEFAULT-VALUE}]")
    private int gpus = 8;

    @Option(names = "--model", description = "their model [${DEFAULT-VALUE}]")
    private String model = "H100";

    @Option(names = "--replicas", description = "replicas of each service [${DEFAULT-VALUE}]")
    private int replicas = 1;

    @Option(names = "--detach", description = "return when all is ready; './gpufleet down' ends it")
    private boolean detach;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "use this cluster [KUBECONFIG when it is set, else a stand-in]")
    private String kubeconfig = Optional.ofNullable(System.getenv("KUBECONFIG")).orElse("");

    @Option(
            names = "--recovery-dwell",
            paramLabel = "TIME",
            description = "how long a GPU is without a fault before it is offered again [${DEFAULT-VALUE}]")
    private String recoveryDwell = "2s";

    @Override
    public void run() {
        StateDirectory directory = parent.directory();
        var progress = new Progress(System.out);
        var fleet = new LocalFleet(parent.tree(), directory, progress);
        Optional<FleetState> before = fleet.running();
        if (before.isPresent()) {
            progress.say("The fleet already runs:");
            progress.say(Overview.of(before.get()));
            return;
        }
        var options = new FleetOptions(nodes, gpus, model, replicas, chosenKubeconfig(), recoveryDwell);
        // Ctrl-C while starting, too, ends what was started.
        var end = new Thread(fleet::endOwn, "down");
        Runtime.getRuntime().addShutdownHook(end);
        FleetState state = fleet.start(options, detach ? null : Identity.of(ProcessHandle.current()))
                .state();
        progress.say("");
        progress.say(Overview.of(state));
        progress.say(Overview.next(state, detach));
        if (detach) {
            Runtime.getRuntime().removeShutdownHook(end);
        } else {
            stay();
        }
    }

    private String chosenKubeconfig() {
        if (kubeconfig.isEmpty()) {
            return "";
        }
        // KUBECONFIG may be a list; the first that exists is the one to use.
        for (String each : kubeconfig.split(File.pathSeparator, -1)) {
            if (Files.isReadable(Path.of(each))) {
                return Path.of(each).toAbsolutePath().toString();
            }
        }
        throw new ConfigurationException("kubeconfig '" + kubeconfig + "' can not be read; name another file by"
                + " --kubeconfig, or --kubeconfig= for the stand-in");
    }

    private static void stay() {
        try {
            // Ends by a signal: the shutdown hook is 'down'.
            new CountDownLatch(1).await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
