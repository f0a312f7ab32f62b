package io.gpufleet.cli;

import io.gpufleet.cli.fleet.ConsoleProgress;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessIdentity;
import io.gpufleet.cli.fleet.Processes;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.cli.local.LocalFleet;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Stops the fleet. */
@Command(name = "down", description = "Stop what 'up' started.", mixinStandardHelpOptions = true)
final class DownCommand implements Runnable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Option(names = "--clean", description = "also remove its state: logs, Kafka's log, state of the nodes")
    private boolean clean;

    @Override
    public void run() {
        StateDirectory directory = parent.stateDirectory();
        var progress = new ConsoleProgress(System.out);
        Optional<FleetState> state = FleetState.read(directory.stateFile());
        // On SIGTERM the supervisor of a foreground 'up' stops the fleet itself.
        Optional<ProcessHandle> supervisor = state.map(FleetState::supervisor).flatMap(ProcessIdentity::find);
        supervisor.ifPresent(up -> {
            up.destroy();
            Processes.awaitExit(up, TIMEOUT);
        });
        if (!new LocalFleet(GpufleetCommand.tree(), directory, progress).stop() && supervisor.isEmpty()) {
            progress.print("no fleet runs here");
        }
        if (clean) {
            directory.deleteAll();
            progress.print("removed " + directory.root());
        }
    }
}
