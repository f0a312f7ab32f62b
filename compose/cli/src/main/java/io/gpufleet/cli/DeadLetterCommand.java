package io.gpufleet.cli;

import io.gpufleet.cli.bus.DeadLetterFormatter;
import io.gpufleet.cli.bus.TopicReader;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.wire.DeadLetterOrigin;
import io.gpufleet.wire.Topic;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** Prints and replays records that could not be read or applied. */
@Command(
        name = "deadletter",
        description = "Records that could not be read or applied.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "(show | replay)",
        subcommands = {DeadLetterCommand.ShowDeadLettersCommand.class, ReplayDeadLettersCommand.class})
final class DeadLetterCommand implements Runnable {
    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }

    FleetState runningFleet() {
        return parent.runningFleet();
    }

    /** {@code deadletter show}. */
    @Command(name = "show", description = "Print all of them, with the reason.", mixinStandardHelpOptions = true)
    static final class ShowDeadLettersCommand implements Runnable {
        @ParentCommand
        private DeadLetterCommand letters = new DeadLetterCommand();

        @Mixin
        private KafkaOptions kafka = new KafkaOptions();

        @Override
        public void run() {
            try (var reader =
                    new TopicReader(kafka.clients(letters::runningFleet), kafka.topics(), List.of(Topic.DEADLETTER))) {
                var replayed = new AtomicLong();
                long count = reader.readAll(rec -> {
                    System.out.println(DeadLetterFormatter.format(rec));
                    if (rec.headers().lastHeader(DeadLetterOrigin.REPLAYED) != null) {
                        replayed.incrementAndGet();
                    }
                });
                System.out.println((count - replayed.get()) + " dead letters, " + replayed.get() + " replayed");
            }
        }
    }
}
