package io.gpufleet.cli;

import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topics;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** Options of a command that uses the Kafka of the local fleet or any other, also one that asks for authentication. */
final class KafkaOptions {
    @Option(names = "--kafka", paramLabel = "ADDRESS", description = "bootstrap servers [those of the local fleet]")
    private String kafka = "";

    @Option(names = "--kafka-config", paramLabel = "FILE", description = "Kafka client properties [none]")
    private String kafkaConfig = "";

    @Option(names = "--prefix", description = "topic prefix [${DEFAULT-VALUE}]")
    private String prefix = Topics.DEFAULT_PREFIX;

    /** Clients of the broker that is named, else of that of the fleet. */
    KafkaClients clients(Supplier<FleetState> fleet) {
        return KafkaClients.of(kafka.isEmpty() ? fleet.get().bootstrap() : kafka, kafkaConfig);
    }

    /** The topics of the prefix. */
    Topics topics() {
        return new Topics(prefix);
    }
}
