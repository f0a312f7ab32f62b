package io.gpufleet.cli;

import io.gpufleet.cli.fleet.FleetState;
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

/** Prints the output of a process. */
@Command(
        name = "logs",
        description = "Print the output of a process, see 'status' for names.",
        mixinStandardHelpOptions = true)
final class LogsCommand implements Callable<Integer> {
    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Parameters(paramLabel = "NAME", description = "for example kafka, health-service-0 or node-1")
    private String name = "";

    @Option(
            names = {"-f", "--follow"},
            description = "follow the output, until Ctrl-C")
    private boolean follow;

    @Override
    public Integer call() {
        FleetState state = FleetState.read(parent.stateDirectory().stateFile())
                .orElseThrow(() -> parent.stateDirectory().noFleet());
        String log = state.process(name)
                .map(FleetState.FleetProcess::log)
                .orElseThrow(() -> new ConfigurationException("'" + name + "' is no process of this fleet; it has "
                        + state.processes().stream()
                                .map(FleetState.FleetProcess::name)
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
