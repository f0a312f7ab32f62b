package io.gpufleet.cli;

import io.gpufleet.cli.bus.DeadLetter;
import io.gpufleet.cli.bus.DeadLetterFilter;
import io.gpufleet.cli.bus.DeadLetterReplay;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code deadletter replay}. */
@Command(
        name = "replay",
        description = {
            "Write dead letters to their topics again, once the reason is gone.",
            "The service that could not apply one applies it once, however often it is replayed; for every other reader it"
                    + " is a duplicate."
        },
        mixinStandardHelpOptions = true)
final class ReplayDeadLettersCommand implements Runnable {
    @ParentCommand
    private DeadLetterCommand letters = new DeadLetterCommand();

    @Option(names = "--all", description = "every dead letter that the other options do not exclude")
    private boolean all;

    @Option(names = "--topic", description = "those found on this topic, for example signals")
    private String topic = "";

    @Option(names = "--partition", description = "those found in this partition")
    private long partition = -1;

    @Option(names = "--offset", description = "those found at this offset")
    private long offset = -1;

    @Option(
            names = "--consumer",
            paramLabel = "SERVICE",
            description = "those of this service, for example health-service")
    private String consumer = "";

    @Option(names = "--key", description = "those of this key, for example a node")
    private String key = "";

    @Option(names = "--replaced", description = "also those that a later snapshot or signal has replaced")
    private boolean replaced;

    @Option(names = "--dry-run", description = "print what would be replayed, and write nothing")
    private boolean dryRun;

    @Mixin
    private KafkaOptions kafka = new KafkaOptions();

    @Override
    public void run() {
        boolean none = topic.isEmpty() && partition < 0 && offset < 0 && consumer.isEmpty() && key.isEmpty();
        if (none && !all) {
            throw new ConfigurationException("deadletter replay names no dead letter: --topic, --partition, --offset,"
                    + " --consumer and --key choose, --all takes every one");
        }
        Topics topics = kafka.topics();
        if (!topic.isEmpty()) {
            GpufleetCommand.topic(topics, topic);
        }
        var replay = new DeadLetterReplay(kafka.clients(letters::runningFleet), topics, Clock.systemUTC());
        List<DeadLetterReplay.Planned> planned =
                replay.plan(new DeadLetterFilter(topic, partition, offset, consumer, key), replaced);
        if (planned.isEmpty()) {
            System.out.println("no dead letter matches; './gpufleet deadletter show' prints all of them");
            return;
        }
        List<DeadLetter> chosen = planned.stream()
                .filter(plan -> plan.obstacle().isEmpty())
                .map(DeadLetterReplay.Planned::letter)
                .toList();
        if (!dryRun) {
            replay.replay(chosen);
        }
        String done = dryRun ? "would be replayed" : "replayed";
        planned.forEach(plan -> System.out.println(
                plan.letter() + "  " + (plan.obstacle().isEmpty() ? done : "left: " + plan.obstacle())));
        System.out.println(planned.size() + " dead letters: " + chosen.size() + " " + done + ", "
                + (planned.size() - chosen.size()) + " left");
    }
}
