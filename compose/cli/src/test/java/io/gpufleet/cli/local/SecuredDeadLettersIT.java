package io.gpufleet.cli.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.CommandProcess;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.wire.DeadLetterOrigin;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Dead letters of a broker that asks for TLS and SCRAM, whose topics have another prefix. */
class SecuredDeadLettersIT {
    private static final Topics TOPICS = new Topics("site.");
    private static final String PERSON = "operator";

    @TempDir
    private Path directory;

    @Test
    void deadLettersAreShownToAPersonWhoMayReadThem() throws Exception {
        try (var broker = BrokerProcess.startSecured(directory.resolve("kafka"))) {
            // Given
            TopicAdmin.apply(broker.bootstrap(), TOPICS);
            String topic = TOPICS.name(Topic.DEADLETTER);
            new BrokerRights(List.of(new BrokerRights.Right(PERSON, "topic", topic, AclOperation.READ))).grant(broker);
            Path properties = Files.writeString(
                    directory.resolve("person.properties"), BrokerRights.clientProperties(broker, PERSON));
            writeDeadLetter(broker, topic);
            // When
            CommandOutput output = CommandProcess.run(
                    Map.of(),
                    List.of(
                            "deadletter",
                            "show",
                            "--kafka=" + broker.securedBootstrap(),
                            "--kafka-config=" + properties,
                            "--prefix=" + TOPICS.prefix()));
            // Then
            assertThat(output.status()).as(output.text()).isZero();
            assertThat(output.text()).contains("made up for a test").endsWith("1 dead letters, 0 replayed\n");
        }
    }

    /** By the listener that asks for nothing. */
    private static void writeDeadLetter(BrokerProcess broker, String topic) throws Exception {
        var letter = new ProducerRecord<>(topic, "node-1".getBytes(UTF_8), "{".getBytes(UTF_8));
        letter.headers().add("dlq.reason", "made up for a test".getBytes(UTF_8));
        new DeadLetterOrigin("health-service", TOPICS.name(Topic.HEALTH), 0, 1, Instant.EPOCH).addTo(letter.headers());
        try (var producer = new KafkaProducer<>(
                Map.<String, Object>of("bootstrap.servers", broker.bootstrap()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(letter).get();
        }
    }
}
