package io.gpufleet.compose.cli;

import io.gpufleet.compose.fleet.FleetState;
import io.gpufleet.compose.fleet.Identity;
import io.gpufleet.compose.fleet.Processes;
import io.gpufleet.compose.fleet.Progress;
import io.gpufleet.compose.fleet.StateDirectory;
import io.gpufleet.compose.local.LocalFleet;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Ends the fleet. */
@Command(name = "down", description = "End the fleet; only what 'up' started.", mixinStandardHelpOptions = true)
final class DownCommand implements Runnable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @ParentCommand
    private Gpufleet parent = new Gpufleet();

    @Option(names = "--clean", description = "also remove its state: logs, Kafka's log, what the nodes remember")
    private boolean clean;

    @Override
    public void run() {
        StateDirectory directory = parent.directory();
        var progress = new Progress(System.out);
        Optional<FleetState> state = FleetState.read(directory.stateFile());
        // The supervisor of a foreground 'up' does it itself when it is told to end.
        boolean supervised = state.map(FleetState::supervisor).flatMap(Identity::find).stream()
                        .peek(supervisor -> {
                            supervisor.destroy();
                            Processes.gone(supervisor, PATIENCE);
                        })
                        .count()
                > 0;
        if (!new LocalFleet(parent.tree(), directory, progress).end() && !supervised) {
            progress.say("no fleet runs here");
        }
        if (clean) {
            directory.clear();
            progress.say("removed " + directory.root());
        }
    }
}
