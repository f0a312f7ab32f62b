package io.gpufleet.cli;

import io.gpufleet.cli.bus.EventDecoder;
import io.gpufleet.cli.bus.EventFormatter;
import io.gpufleet.cli.bus.EventJsonFormatter;
import io.gpufleet.cli.bus.TopicReader;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Prints events as they arrive. */
@Command(
        name = "events",
        description = "Print events of the bus as they arrive, until Ctrl-C.",
        mixinStandardHelpOptions = true)
final class EventsCommand implements Runnable {
    /** About 31 years, so that the begin is an instant that Kafka takes. */
    private static final long MAX_SECONDS = 1_000_000_000;

    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Parameters(arity = "0..*", paramLabel = "TOPIC", description = "for example health verdicts; all but telemetry")
    private List<String> names = new ArrayList<>();

    @Option(names = "--since", paramLabel = "SECONDS", description = "begin this many seconds ago [0]")
    private long since;

    @Option(names = "--full", description = "print values and lines of any length")
    private boolean full;

    @Option(names = "--json", description = "print one JSON object a line: CloudEvents attributes, data, topic, offset")
    private boolean json;

    @Mixin
    private KafkaOptions kafka = new KafkaOptions();

    @Override
    public void run() {
        List<Topic> topics = topics();
        if (since < 0 || since > MAX_SECONDS) {
            throw new ConfigurationException("--since " + since + " is not usable: it takes 0 to " + MAX_SECONDS);
        }
        var decoder = new EventDecoder(kafka.topics());
        try (var reader = new TopicReader(kafka.clients(parent::runningFleet), kafka.topics(), topics)) {
            Consumer<ConsumerRecord<String, byte[]>> print = rec -> System.out.println(line(reader, decoder, rec));
            if (since > 0) {
                reader.followSince(Instant.now().minus(Duration.ofSeconds(since)), print);
            } else {
                reader.follow(print);
            }
        }
    }

    private String line(TopicReader reader, EventDecoder decoder, ConsumerRecord<String, byte[]> rec) {
        if (json) {
            return EventJsonFormatter.format(rec);
        }
        ZoneId zone = ZoneId.systemDefault();
        var formatter = full ? EventFormatter.full(zone) : new EventFormatter(zone);
        return formatter.format(reader.shortName(rec), decoder.decode(rec));
    }

    private List<Topic> topics() {
        if (names.isEmpty()) {
            return Arrays.stream(Topic.values())
                    .filter(topic -> topic != Topic.TELEMETRY && topic != Topic.ELECTION)
                    .toList();
        }
        Topics known = kafka.topics();
        return names.stream().map(name -> GpufleetCommand.topic(known, name)).toList();
    }
}
