package io.gpufleet.compose.cli;

import io.gpufleet.compose.bus.BusReader;
import io.gpufleet.compose.bus.DeadLetterLine;
import io.gpufleet.wire.Topic;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** Shows what could not be read. */
@Command(
        name = "deadletter",
        description = "Records that could not be read.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "show",
        subcommands = DeadLetterCommand.Show.class)
final class DeadLetterCommand implements Runnable {
    @ParentCommand
    private Gpufleet parent = new Gpufleet();

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }

    /** {@code deadletter show}. */
    @Command(name = "show", description = "Print them all, with the reason.", mixinStandardHelpOptions = true)
    static final class Show implements Runnable {
        @ParentCommand
        private DeadLetterCommand letters = new DeadLetterCommand();

        @Override
        public void run() {
            try (var reader =
                    new BusReader(letters.parent.running().bootstrap(), Gpufleet.codec(), List.of(Topic.DEADLETTER))) {
                long count = reader.readAll(rec -> System.out.println(DeadLetterLine.of(rec)));
                System.out.println(count + " dead letters");
            }
        }
    }
}
