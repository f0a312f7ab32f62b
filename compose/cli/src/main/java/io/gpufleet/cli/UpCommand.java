package io.gpufleet.cli;

import io.gpufleet.cli.fleet.ConsoleProgress;
import io.gpufleet.cli.fleet.FleetOptions;
import io.gpufleet.cli.fleet.FleetPartControl;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessIdentity;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.cli.local.LocalFleet;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Starts the fleet; Ctrl-C stops it unless it runs detached. */
@Command(name = "up", description = "Start the fleet; Ctrl-C stops it.", mixinStandardHelpOptions = true)
final class UpCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Option(names = "--nodes", paramLabel = "N", description = "simulated nodes [${DEFAULT-VALUE}]")
    private int nodes = 3;

    @Option(names = "--gpus", paramLabel = "N", description = "GPUs of each node [${DEFAULT-VALUE}]")
    private int gpus = 8;

    @Option(names = "--model", paramLabel = "MODEL", description = "model of the GPUs [${DEFAULT-VALUE}]")
    private String model = "H100";

    @Option(names = "--replicas", paramLabel = "N", description = "replicas of each service [${DEFAULT-VALUE}]")
    private int replicas = 1;

    @Option(names = "--detach", description = "return when all is ready; './gpufleet down' stops the fleet")
    private boolean detach;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "use this cluster [KUBECONFIG when it is set, else a fake API server]")
    private String kubeconfig = Optional.ofNullable(System.getenv("KUBECONFIG")).orElse("");

    @Option(
            names = "--recovery-dwell",
            paramLabel = "TIME",
            description = "time without a fault before a GPU is offered again [${DEFAULT-VALUE}]")
    private String recoveryDwell = "2s";

    @Override
    public void run() {
        StateDirectory directory = parent.stateDirectory();
        var progress = new ConsoleProgress(System.out);
        var fleet = new LocalFleet(GpufleetCommand.tree(), directory, progress);
        Optional<FleetState> before = fleet.running();
        if (before.isPresent()) {
            FleetPartControl parts = fleet.parts();
            List<String> started = parts.startDead();
            progress.print(
                    started.isEmpty()
                            ? "The fleet already runs:"
                            : "The fleet already runs, these parts were dead and are started again: "
                                    + String.join(", ", started));
            progress.print(StatusReport.render(parts.state()));
            String ignored = ignored(before.get());
            if (!ignored.isEmpty()) {
                progress.print("Not applied, since a running fleet keeps its options: " + ignored
                        + "; './gpufleet down' first.");
            }
            return;
        }
        var options = new FleetOptions(nodes, gpus, model, replicas, chosenKubeconfig(), recoveryDwell);
        // Ctrl-C during the start stops what was started so far.
        var end = new Thread(fleet::stopOwn, "down");
        Runtime.getRuntime().addShutdownHook(end);
        FleetState state = fleet.start(options, detach ? null : ProcessIdentity.of(ProcessHandle.current()))
                .state();
        progress.print("");
        progress.print(StatusReport.render(state));
        progress.print(StatusReport.suggestions(state, detach));
        if (detach) {
            Runtime.getRuntime().removeShutdownHook(end);
        } else {
            awaitSignal();
        }
    }

    /** Options that were given and say something else than {@code --detach} or the cluster that is used anyway. */
    private String ignored(FleetState running) {
        boolean sameCluster = kubeconfig.equals(
                running.kubernetes().fake() ? "" : running.kubernetes().kubeconfig());
        return spec.commandLine().getParseResult().matchedOptions().stream()
                // --state of the parent says which fleet is meant.
                .filter(option -> !option.inherited())
                .filter(option -> !option.names()[0].equals("--detach"))
                .filter(option -> !(sameCluster && option.names()[0].equals("--kubeconfig")))
                .map(option -> option.names()[0] + " " + String.join(" ", option.originalStringValues()))
                .collect(Collectors.joining(", "));
    }

    private String chosenKubeconfig() {
        if (kubeconfig.isEmpty()) {
            return "";
        }
        // KUBECONFIG may be a list; the first readable file is used.
        for (String each : kubeconfig.split(File.pathSeparator, -1)) {
            if (Files.isReadable(Path.of(each))) {
                return Path.of(each).toAbsolutePath().toString();
            }
        }
        throw new ConfigurationException("kubeconfig '" + kubeconfig + "' cannot be read; name another file with"
                + " --kubeconfig, or --kubeconfig= for the fake API server");
    }

    private static void awaitSignal() {
        try {
            // Ends by a signal; the shutdown hook stops the fleet.
            new CountDownLatch(1).await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
