package io.gpufleet.compose.cli;

import io.gpufleet.compose.fleet.FleetState;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Prints the output of a part. */
@Command(name = "logs", description = "Output of a part, see 'status' for names.", mixinStandardHelpOptions = true)
final class LogsCommand implements Callable<Integer> {
    @ParentCommand
    private Gpufleet parent = new Gpufleet();

    @Parameters(paramLabel = "NAME", description = "for example kafka, health-service-0 or node-1")
    private String name = "";

    @Option(
            names = {"-f", "--follow"},
            description = "go on with what comes, until Ctrl-C")
    private boolean follow;

    @Override
    public Integer call() {
        FleetState state = FleetState.read(parent.directory().stateFile())
                .orElseThrow(() -> new ConfigurationException("no fleet runs here; './gpufleet up' starts one"));
        String log = state.process(name)
                .map(FleetState.Started::log)
                .orElseThrow(() -> new ConfigurationException("'" + name + "' is no part of this fleet; it has "
                        + state.processes().stream()
                                .map(FleetState.Started::name)
                                .collect(Collectors.joining(", "))));
        var command = new ArrayList<>(List.of("tail", "-n", "+1"));
        if (follow) {
            command.add("-f");
        }
        command.add(log);
        try {
            return new ProcessBuilder(command).inheritIO().start().waitFor();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return 1;
        }
    }
}
