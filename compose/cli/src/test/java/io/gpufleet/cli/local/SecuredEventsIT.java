package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.cli.CommandProcess;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.acl.AclOperation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events of an installation, whose Kafka asks for TLS and SCRAM and has another prefix, printed for a person who may read them. */
class SecuredEventsIT {
    private static final Topics TOPICS = new Topics("site.");
    private static final String PERSON = "operator";

    @TempDir
    private Path directory;

    @Test
    void eventsOfAnyClusterArePrintedAsTextAndAsJson() throws Exception {
        try (var broker = BrokerProcess.startSecured(directory.resolve("kafka"))) {
            // Given
            TopicAdmin.apply(broker.bootstrap(), TOPICS);
            String topic = TOPICS.name(Topic.INVENTORY);
            new BrokerRights(List.of(new BrokerRights.Right(PERSON, "topic", topic, AclOperation.READ))).grant(broker);
            try (var daemon = new DaemonEventProducer(broker.bootstrap(), new Codec("prod", TOPICS), "node-1")) {
                daemon.announce(TestGpus.h100(8));
            }
            // Then
            assertThat(event(broker, "--full"))
                    .contains("inventory", "node-1", "node.announced", "gpus[7].")
                    .doesNotContain("unreadable");
            JsonNode event = new ObjectMapper().readTree(event(broker, "--json"));
            assertThat(event.path("topic").asText()).isEqualTo(topic);
            assertThat(event.path("source").asText()).isEqualTo("/clusters/prod/nodes/node-1");
            assertThat(event.at("/data/gpus").size()).isEqualTo(8);
        }
    }

    private String event(BrokerProcess broker, String format) throws IOException {
        Path properties = Files.writeString(
                directory.resolve("person.properties"), BrokerRights.clientProperties(broker, PERSON));
        var arguments = new ArrayList<>(List.of("events", "inventory", "--since", "600", format));
        arguments.addAll(List.of(
                "--kafka=" + broker.securedBootstrap(), "--kafka-config=" + properties, "--prefix=" + TOPICS.prefix()));
        return CommandProcess.lineOf(arguments, "node.announced", Duration.ofSeconds(60));
    }
}
