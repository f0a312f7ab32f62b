package io.gpufleet.cli;

import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Creates and checks the topics of a Kafka. */
@Command(
        name = "topics",
        description = "Create and check the topics.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "apply",
        subcommands = TopicsCommand.ApplyTopicsCommand.class)
final class TopicsCommand implements Runnable {
    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }

    /** {@code topics apply}. */
    @Command(
            name = "apply",
            description = "Create the topics that are missing and report those that differ.",
            mixinStandardHelpOptions = true)
    static final class ApplyTopicsCommand implements Runnable {
        @ParentCommand
        private TopicsCommand topics = new TopicsCommand();

        @Option(names = "--kafka", paramLabel = "ADDRESS", description = "bootstrap servers [those of the local fleet]")
        private String kafka = "";

        @Option(names = "--prefix", description = "topic prefix [${DEFAULT-VALUE}]")
        private String prefix = Topics.DEFAULT_PREFIX;

        @Option(names = "--replication", description = "replicas of each partition [${DEFAULT-VALUE}]")
        private short replication = 1;

        @Override
        public void run() {
            String bootstrap = kafka.isEmpty() ? topics.parent.runningFleet().bootstrap() : kafka;
            List<String> lines = TopicAdmin.apply(bootstrap, new Topics(prefix), replication);
            lines.forEach(System.out::println);
            System.out.println(lines.isEmpty() ? "all topics match the catalogue" : lines.size() + " lines");
        }
    }
}
