package io.gpufleet.cli;

import io.gpufleet.cli.bus.DeadLetterFormatter;
import io.gpufleet.cli.bus.TopicReader;
import io.gpufleet.wire.Topic;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** Prints records that could not be read. */
@Command(
        name = "deadletter",
        description = "Records that could not be read.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "show",
        subcommands = DeadLetterCommand.ShowDeadLettersCommand.class)
final class DeadLetterCommand implements Runnable {
    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }

    /** {@code deadletter show}. */
    @Command(name = "show", description = "Print all of them, with the reason.", mixinStandardHelpOptions = true)
    static final class ShowDeadLettersCommand implements Runnable {
        @ParentCommand
        private DeadLetterCommand letters = new DeadLetterCommand();

        @Override
        public void run() {
            try (var reader = new TopicReader(
                    letters.parent.runningFleet().bootstrap(), GpufleetCommand.codec(), List.of(Topic.DEADLETTER))) {
                long count = reader.readAll(rec -> System.out.println(DeadLetterFormatter.format(rec)));
                System.out.println(count + " dead letters");
            }
        }
    }
}
