package io.gpufleet.cli;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.TopicsException;
import java.util.List;
import java.util.Optional;
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
        private static final short LOCAL_REPLICATION = 1;
        private static final short DEFAULT_REPLICATION = 3;

        @ParentCommand
        private TopicsCommand topics = new TopicsCommand();

        @Option(
                names = "--kafka",
                paramLabel = "ADDRESS",
                description = "bootstrap servers [GPUFLEET_KAFKA, else those of the local fleet]")
        private String kafka = setting("GPUFLEET_KAFKA");

        @Option(
                names = "--kafka-config",
                paramLabel = "FILE",
                description = "Kafka client properties file [GPUFLEET_KAFKA_CONFIG]")
        private String kafkaConfig = setting("GPUFLEET_KAFKA_CONFIG");

        @Option(names = "--prefix", description = "topic prefix [GPUFLEET_TOPIC_PREFIX, else gpu.]")
        private String prefix = Optional.of(setting("GPUFLEET_TOPIC_PREFIX"))
                .filter(set -> !set.isEmpty())
                .orElse(Topics.DEFAULT_PREFIX);

        @Option(
                names = "--replication",
                description = "replicas of each partition, of which all but one must have a write"
                        + " [GPUFLEET_TOPIC_REPLICATION, else 3; the broker of the local fleet: 1]")
        private String replication = setting("GPUFLEET_TOPIC_REPLICATION");

        @Override
        public void run() {
            List<String> lines = TopicAdmin.apply(clients(), new Topics(prefix), replicas());
            lines.forEach(System.out::println);
            if (lines.isEmpty()) {
                System.out.println("all topics match the catalogue");
            }
        }

        private KafkaClients clients() {
            try {
                return KafkaClients.of(
                        kafka.isEmpty() ? topics.parent.runningFleet().bootstrap() : kafka, kafkaConfig);
            } catch (IllegalArgumentException malformed) {
                throw TopicsException.unusable("GPUFLEET_KAFKA: " + malformed.getMessage());
            }
        }

        private short replicas() {
            if (replication.isEmpty()) {
                return kafka.isEmpty() ? LOCAL_REPLICATION : DEFAULT_REPLICATION;
            }
            if (!replication.matches("[1-9]")) {
                throw new ConfigurationException("--replication '" + replication + "' is not usable: it takes 1 to 9");
            }
            return Short.parseShort(replication);
        }

        /** In a pod the settings are those of the programs. */
        private static String setting(String name) {
            return Optional.ofNullable(System.getenv(name)).orElse("");
        }
    }
}
